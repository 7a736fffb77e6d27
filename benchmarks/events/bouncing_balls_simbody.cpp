// Bouncing balls in Simbody: sliders along z, a triggered event handler for each; prints evaluations and times.
#include <Simbody.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

using namespace SimTK;

static int impacts = 0;

class Bounce : public TriggeredEventHandler {
public:
    Bounce(const MobilizedBody::Slider& ball, double restitution)
        : TriggeredEventHandler(Stage::Position), ball(ball), restitution(restitution) {
        getTriggerInfo().setTriggerOnRisingSignTransition(false);
    }
    Real getValue(const State& state) const override { return ball.getOneQ(state, 0); }
    void handleEvent(State& state, Real, bool&) const override {
        ++impacts;
        ball.setOneU(state, 0, -restitution * ball.getOneU(state, 0));
    }

private:
    const MobilizedBody::Slider ball;
    const double restitution;
};

int main(int, char** argv) {
    const int count = std::atoi(argv[1]);
    const double until = std::atof(argv[2]), accuracy = std::atof(argv[3]), restitution = std::atof(argv[4]);
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::UniformGravity gravity(forces, matter, Vec3(-9.81, 0, 0));
    Body::Rigid body(MassProperties(1.0, Vec3(0), Inertia(1)));
    std::vector<MobilizedBody::Slider> balls;
    for (int i = 0; i < count; ++i) {
        balls.emplace_back(matter.Ground(), Transform(), body, Transform());
        system.addEventHandler(new Bounce(balls.back(), restitution));
    }
    State state = system.realizeTopology();
    for (int i = 0; i < count; ++i) balls[i].setOneQ(state, 0, 1.0 + 9.0 * i / (count > 1 ? count - 1 : 1));
    std::unique_ptr<Integrator> method;
    if (std::string(argv[5]) == "merson") method.reset(new RungeKuttaMersonIntegrator(system));
    else method.reset(new RungeKutta3Integrator(system));
    Integrator& integrator = *method;
    integrator.setAccuracy(accuracy);
    TimeStepper stepper(system, integrator);
    stepper.initialize(state);
    const long before = integrator.getNumRealizations();
    const auto began = std::chrono::steady_clock::now();
    stepper.stepTo(until);
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    double lowest = 1e300;
    for (auto& ball : balls) lowest = std::min(lowest, ball.getOneQ(integrator.getState(), 0));
    std::printf("{\"impacts\": %d, \"evaluations\": %ld, \"wall\": %.9g, \"lowest\": %.9g}\n", impacts,
                (long)integrator.getNumRealizations() - before, spent, lowest);
    return 0;
}
