// Simbody: spheres that fall onto a floor at several accuracies, by the law of Hunt and Crossley without
// friction; prints CPU times and heights of five of them over time.
#include <Simbody.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

using namespace SimTK;

static const double RADIUS = 0.1;

// A model with spheres of 1 kg on a half-space z < 0; what holds it keeps its parts together.
struct Scene {
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    GeneralForceSubsystem forces{system};
    GeneralContactSubsystem contacts{system};
    std::vector<MobilizedBody::Free> balls;

    Scene(int count, double modulus, double dissipation) {
        Force::UniformGravity(forces, matter, Vec3(0, 0, -9.81));
        const ContactSetIndex set = contacts.createContactSet();
        Body::Rigid body(MassProperties(1.0, Vec3(0), Inertia(0.004)));
        // A half-space of Simbody lies at x > 0 of its frame.
        contacts.addBody(set, matter.updGround(), ContactGeometry::HalfSpace(),
                         Transform(Rotation(Pi / 2, YAxis), Vec3(0)));
        for (int i = 0; i < count; ++i) {
            balls.emplace_back(matter.Ground(), Transform(), body, Transform());
            contacts.addBody(set, balls.back(), ContactGeometry::Sphere(RADIUS), Transform());
        }
        HuntCrossleyForce push(forces, contacts, set);
        // Two surfaces of one modulus have (1/2)^(3/2) of it together.
        for (int i = 0; i <= count; ++i)
            push.setBodyParameters(ContactSurfaceIndex(i), modulus * std::pow(2.0, 1.5), dissipation, 0.0, 0.0, 0.0);
    }
};

static void fall(const std::vector<double>& places, double until, double modulus, double dissipation,
                 double accuracy) {
    const int count = (int)places.size();
    Scene scene(count, modulus, dissipation);
    State state = scene.system.realizeTopology();
    for (int i = 0; i < count; ++i)
        scene.balls[i].setQToFitTranslation(state, Vec3(0.3 * (i % 10), 0.3 * (i / 10), places[i]));
    RungeKuttaMersonIntegrator integrator(scene.system);
    integrator.setAccuracy(accuracy);
    TimeStepper stepper(scene.system, integrator);
    stepper.initialize(state);
    const std::clock_t began = std::clock();
    std::vector<double> heights;
    for (int i = 1; i <= 20; ++i) {
        stepper.stepTo(until * i / 20);
        for (int k = 0; k < 5; ++k)
            heights.push_back(scene.balls[k * (count - 1) / 4].getBodyOriginLocation(integrator.getState())[2]);
    }
    std::printf("{\"accuracy\": %g, \"seconds\": %.9g, \"heights\": [", accuracy,
                double(std::clock() - began) / CLOCKS_PER_SEC);
    for (std::size_t i = 0; i < heights.size(); ++i) std::printf(i ? ", %.17g" : "%.17g", heights[i]);
    std::printf("]}");
}

int main(int, char** argv) {
    const int count = std::atoi(argv[1]);
    const double low = std::atof(argv[2]), high = std::atof(argv[3]), until = std::atof(argv[4]);
    const double modulus = std::atof(argv[5]), dissipation = std::atof(argv[6]);
    std::vector<double> places, shown;
    for (int i = 0; i < count; ++i) places.push_back(low + (high - low) * i / std::max(1, count - 1));
    for (int k = 0; k < 5; ++k) shown.push_back(places[k * (count - 1) / 4]);
    std::printf("[");
    for (double accuracy : {1e-3, 1e-4, 1e-5}) {
        fall(places, until, modulus, dissipation, accuracy);
        std::printf(", ");
    }
    // The finest only shows the error of the others, so five spheres are enough there.
    fall(shown, until, modulus, dissipation, 1e-9);
    std::printf("]\n");
    return 0;
}
