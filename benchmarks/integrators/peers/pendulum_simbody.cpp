// Simbody: the pendulum with its Runge-Kutta-Merson and Runge-Kutta-Feldberg integrators at each accuracy.
#include <Simbody.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>

using namespace SimTK;

// The file: links, q, rounds; the number of accuracies and they themselves; the number of marks and they themselves.
int main(int, char** argv) {
    std::ifstream file(argv[1]);
    int links, rounds, accuracies, marks;
    double q0;
    file >> links >> q0 >> rounds >> accuracies;
    std::vector<double> accuracy(accuracies);
    for (auto& value : accuracy) file >> value;
    file >> marks;
    std::vector<double> mark(marks);
    for (auto& value : mark) file >> value;

    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::UniformGravity gravity(forces, matter, Vec3(0, 0, -9.81));
    Vec3 center(0, 0, -0.5);
    Inertia about = Inertia(Vec3(1.0025, 1.0025, 0.005) / 12).shiftFromMassCenter(center, 1.0);
    Body::Rigid body(MassProperties(1.0, center, about));
    Rotation turned(UnitVec3(0, 1, 0), ZAxis);
    std::vector<MobilizedBody> made;
    for (int i = 0; i < links; ++i) {
        MobilizedBody& carrier = i == 0 ? static_cast<MobilizedBody&>(matter.updGround()) : made[i - 1];
        made.push_back(MobilizedBody::Pin(carrier, Transform(turned, Vec3(0, 0, i == 0 ? 0 : -1)), body,
                                          Transform(turned, Vec3(0))));
    }
    State start = system.realizeTopology();
    for (auto& one : made) one.setOneQ(start, 0, q0);

    std::cout.precision(17);
    std::cout << "{\"name\": \"Simbody 3.7\", \"runs\": [";
    bool comma = false;
    for (int method = 0; method < 2; ++method)
        for (double wanted : accuracy) {
            double best = 1e9;
            int evaluations = 0;
            auto make = [&]() -> std::unique_ptr<Integrator> {
                std::unique_ptr<Integrator> integrator;
                if (method == 0)
                    integrator = std::make_unique<RungeKuttaMersonIntegrator>(system);
                else
                    integrator = std::make_unique<RungeKuttaFeldbergIntegrator>(system);
                integrator->setAccuracy(wanted);
                return integrator;
            };
            for (int round = 0; round < rounds; ++round) {
                auto integrator = make();
                TimeStepper stepper(system, *integrator);
                stepper.initialize(start);
                auto began = std::chrono::steady_clock::now();
                stepper.stepTo(mark.back());
                std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
                best = std::min(best, taken.count());
                evaluations = integrator->getNumRealizations();
            }
            auto integrator = make();
            TimeStepper stepper(system, *integrator);
            stepper.initialize(start);
            std::cout << (comma ? ", " : "") << "{\"method\": \"" << (method ? "Feldberg" : "Merson")
                      << "\", \"accuracy\": " << wanted << ", \"seconds\": " << best
                      << ", \"evaluations\": " << evaluations << ", \"states\": [";
            comma = true;
            for (int k = 0; k < marks; ++k) {
                stepper.stepTo(mark[k]);
                std::cout << (k ? ", [" : "[");
                for (int i = 0; i < links; ++i)
                    std::cout << (i ? ", [" : "[") << made[i].getOneQ(stepper.getState(), 0) << ", "
                              << made[i].getOneU(stepper.getState(), 0) << "]";
                std::cout << "]";
            }
            std::cout << "]}";
        }
    std::cout << "]}" << std::endl;
}
