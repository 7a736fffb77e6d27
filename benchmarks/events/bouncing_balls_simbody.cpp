// Bouncing balls in Simbody: sliders along x, a triggered event handler for each; prints evaluations and times.
#include <Simbody.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

using namespace SimTK;

static std::vector<std::vector<double>> impacts;

class Bounce : public TriggeredEventHandler {
public:
    Bounce(const MobilizedBody::Slider& ball, int number, double restitution)
        : TriggeredEventHandler(Stage::Position), ball(ball), number(number), restitution(restitution) {
        getTriggerInfo().setTriggerOnRisingSignTransition(false);
    }
    Real getValue(const State& state) const override { return ball.getOneQ(state, 0); }
    void handleEvent(State& state, Real, bool&) const override {
        impacts[number].push_back(state.getTime());
        ball.setOneU(state, 0, -restitution * ball.getOneU(state, 0));
    }

private:
    const MobilizedBody::Slider ball;
    const int number;
    const double restitution;
};

static std::unique_ptr<Integrator> make(const std::string& name, const System& system) {
    if (name == "merson") return std::unique_ptr<Integrator>(new RungeKuttaMersonIntegrator(system));
    if (name == "rk2") return std::unique_ptr<Integrator>(new RungeKutta2Integrator(system));
    if (name == "rk3") return std::unique_ptr<Integrator>(new RungeKutta3Integrator(system));
    if (name == "feldberg") return std::unique_ptr<Integrator>(new RungeKuttaFeldbergIntegrator(system));
    if (name == "verlet") return std::unique_ptr<Integrator>(new VerletIntegrator(system));
    if (name == "euler") return std::unique_ptr<Integrator>(new ExplicitEulerIntegrator(system));
    if (name == "semi_euler_2") return std::unique_ptr<Integrator>(new SemiExplicitEuler2Integrator(system));
    if (name == "cpodes") return std::unique_ptr<Integrator>(new CPodesIntegrator(system));
    return nullptr;
}

int main(int, char** argv) {
    const int count = std::atoi(argv[1]);
    const double until = std::atof(argv[2]), accuracy = std::atof(argv[3]), restitution = std::atof(argv[4]);
    MultibodySystem system;
    SimbodyMatterSubsystem matter(system);
    GeneralForceSubsystem forces(system);
    Force::UniformGravity gravity(forces, matter, Vec3(-9.81, 0, 0));
    Body::Rigid body(MassProperties(1.0, Vec3(0), Inertia(1)));
    std::vector<MobilizedBody::Slider> balls;
    impacts.resize(count);
    for (int i = 0; i < count; ++i) {
        balls.emplace_back(matter.Ground(), Transform(), body, Transform());
        system.addEventHandler(new Bounce(balls.back(), i, restitution));
    }
    State state = system.realizeTopology();
    for (int i = 0; i < count; ++i) balls[i].setOneQ(state, 0, 1.0 + 9.0 * i / (count > 1 ? count - 1 : 1));
    std::unique_ptr<Integrator> method = make(argv[5], system);
    if (!method) {
        std::fprintf(stderr, "no integrator %s\n", argv[5]);
        return 2;
    }
    Integrator& integrator = *method;
    integrator.setAccuracy(accuracy);
    TimeStepper stepper(system, integrator);
    stepper.initialize(state);
    const long before = integrator.getNumRealizations();
    const auto began = std::chrono::steady_clock::now();
    const std::clock_t on_processor = std::clock();
    stepper.stepTo(until);
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    const double cpu = double(std::clock() - on_processor) / CLOCKS_PER_SEC;
    double lowest = 1e300;
    for (auto& ball : balls) lowest = std::min(lowest, ball.getOneQ(integrator.getState(), 0));
    int all = 0;
    for (auto& times : impacts) all += (int)times.size();
    std::printf("{\"impacts\": %d, \"evaluations\": %ld, \"wall\": %.9g, \"cpu\": %.9g, \"lowest\": %.9g, \"times\": [", all,
                (long)integrator.getNumRealizations() - before, spent, cpu, lowest);
    for (int i = 0; i < count; ++i) {
        std::printf(i ? ", [" : "[");
        for (std::size_t j = 0; j < impacts[i].size(); ++j) std::printf(j ? ", %.17g" : "%.17g", impacts[i][j]);
        std::printf("]");
    }
    std::printf("]}\n");
    return 0;
}
