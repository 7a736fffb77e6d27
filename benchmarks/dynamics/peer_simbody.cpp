// Simbody: realize to Acceleration after the speeds and coordinates were written, in a loop in C++.
#include <Simbody.h>

#include <chrono>
#include <fstream>
#include <iostream>

using namespace SimTK;

// The file: rounds and gravity; then for each tree its name, number of bodies, q, u and a line for each body.
int main(int, char** argv) {
    std::ifstream file(argv[1]);
    int rounds;
    Vec3 g;
    file >> rounds >> g[0] >> g[1] >> g[2];
    std::string name;
    std::cout.precision(17);
    std::cout << "{\"version\": \"3.7\", \"trees\": {";
    bool first = true;
    while (file >> name) {
        int n;
        double q0, u0;
        file >> n >> q0 >> u0;
        MultibodySystem system;
        SimbodyMatterSubsystem matter(system);
        GeneralForceSubsystem forces(system);
        Force::UniformGravity gravity(forces, matter, g);
        std::vector<MobilizedBody> made;
        std::vector<bool> hinge;
        for (int i = 0; i < n; ++i) {
            int parent, is_pin;
            double m;
            Vec3 axis, p, c, I;
            file >> parent >> is_pin >> axis[0] >> axis[1] >> axis[2] >> p[0] >> p[1] >> p[2] >> m >> c[0] >> c[1]
                >> c[2] >> I[0] >> I[1] >> I[2];
            Inertia about = Inertia(I).shiftFromMassCenter(c, m);
            Body::Rigid body(MassProperties(m, c, about));
            MobilizedBody& carrier = parent < 0 ? matter.updGround() : made[parent];
            Rotation turned(UnitVec3(axis), ZAxis);
            if (is_pin)
                made.push_back(MobilizedBody::Pin(carrier, Transform(turned, p), body, Transform(turned, Vec3(0))));
            else
                made.push_back(MobilizedBody::Free(carrier, Transform(p), body, Transform(Vec3(0))));
            hinge.push_back(is_pin);
        }
        State state = system.realizeTopology();
        system.realizeModel(state);
        for (int i = 0; i < n; ++i)
            if (hinge[i]) {
                made[i].setOneQ(state, 0, q0);
                made[i].setOneU(state, 0, u0);
            }
        int count = std::max(50, 40000 / (1 + n));
        double best = 1e9;
        Vector q = state.getQ(), u = state.getU();
        for (int round = 0; round < rounds; ++round) {
            auto start = std::chrono::steady_clock::now();
            for (int i = 0; i < count; ++i) {
                state.updQ() = q;
                state.updU() = u;
                system.realize(state, Stage::Acceleration);
            }
            std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
            best = std::min(best, taken.count() / count);
        }
        if (!first) std::cout << ", ";
        first = false;
        for (auto& letter : name) letter = letter == '_' ? ' ' : letter;
        std::cout << '"' << name << "\": {\"seconds\": " << best << ", \"udot\": [";
        bool comma = false;
        for (int i = 0; i < n; ++i)
            if (hinge[i]) {
                std::cout << (comma ? ", " : "") << made[i].getOneUDot(state, 0);
                comma = true;
            }
        std::cout << "]}";
    }
    std::cout << "}}" << std::endl;
}
