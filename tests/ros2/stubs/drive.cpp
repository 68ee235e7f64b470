// Drives the example's controller around the generated double pendulum's own step, a millisecond at a time, and says what it saw.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "forward_or_hold.hpp"
#include ROBOT_HEADER
#define JOINED_(a, b) a##_##b
#define JOINED(a, b) JOINED_(a, b)
#define OF_ROBOT(name) JOINED(ROBOT, name)

using controller_interface::CallbackReturn;
using Torques = std_msgs::msg::Float64MultiArray;
using Values = std::vector<double>;

namespace
{
constexpr double kStep = 1e-3;
const Values kEffort{40.0, 20.0};

struct Rig
{
  diffpbd_example::ForwardOrHold controller;
  Values q{0.6, 0.4}, dq{0.0, 0.0}, told{0.0, 0.0}, before{0.0, 0.0}, alpha = Values(2000), work = Values(20000);
  double time = 0.0, fastest_change = 0.0, over = 0.0, fastest = 0.0;
  bool robot_compensates = false, first = true;

  explicit Rig(bool compensates) : robot_compensates(compensates)
  {
    OF_ROBOT(alpha_defaults)(alpha.data());
    auto & parameters = controller.get_node()->parameters;
    parameters["joints"] = std::vector<std::string>{"shoulder", "elbow"};
    parameters["effort"] = kEffort;
    parameters["robot_compensates_gravity"] = compensates;
  }

  bool begin()
  {
    const rclcpp_lifecycle::State state;
    if (controller.on_init() != CallbackReturn::SUCCESS || controller.on_configure(state) != CallbackReturn::SUCCESS) {
      return false;
    }
    const auto wanted = controller.state_interface_configuration().names;
    std::vector<hardware_interface::LoanedStateInterface> states;
    std::vector<hardware_interface::LoanedCommandInterface> commands;
    for (const auto & name : wanted) {
      const std::size_t k = name.find("elbow") == 0 ? 1 : 0;
      states.emplace_back(name.find("/position") != std::string::npos ? &q[k] : &dq[k]);
    }
    for (const auto & name : controller.command_interface_configuration().names) {
      commands.emplace_back(&told[name == "elbow/effort" ? 1 : 0]);
    }
    controller.assign_interfaces(std::move(commands), std::move(states));
    return controller.on_activate(state) == CallbackReturn::SUCCESS;
  }

  Values gravity()
  {
    Values none{0.0, 0.0}, torque{0.0, 0.0};
    const double * const in[] = {q.data(), none.data(), none.data(), alpha.data()};
    double * const out[] = {torque.data()};
    OF_ROBOT(inverse_dynamics)(in, out, work.data());
    return torque;
  }

  void say(const Values & torque)
  {
    auto message = std::make_shared<Torques>();
    message->data = torque;
    std::any_cast<std::shared_ptr<rclcpp::Subscription<Torques>>>(
      controller.get_node()->subscriptions["~/commands"])->callback(message);
  }

  void step()
  {
    time += kStep;
    (void)controller.update(rclcpp::Time(time), rclcpp::Duration(kStep));
    Values u = told, next{0.0, 0.0}, rate{0.0, 0.0};
    const Values own = gravity();
    for (std::size_t k = 0; k < 2; ++k) {
      over = std::max(over, std::abs(told[k]) - kEffort[k]);
      if (!first) {
        fastest_change = std::max(fastest_change, std::abs(told[k] - before[k]) / kStep / kEffort[k]);
      }
      u[k] += robot_compensates ? own[k] : 0.0;
    }
    first = false;
    before = told;
    const double * const in[] = {q.data(), dq.data(), u.data(), &kStep, alpha.data()};
    double * const out[] = {next.data(), rate.data()};
    OF_ROBOT(joint_step)(in, out, work.data());
    q = next;
    dq = rate;
    fastest = std::max({fastest, std::abs(dq[0]), std::abs(dq[1])});
  }

  void run(double seconds)
  {
    for (int k = 0; k < seconds / kStep; ++k) {
      step();
    }
  }
};

double apart(const Values & a, const Values & b)
{
  return std::max(std::abs(a[0] - b[0]), std::abs(a[1] - b[1]));
}

void account(bool compensates)
{
  Rig rig(compensates);
  const Values start = rig.q;
  const bool began = rig.begin();
  rig.run(0.5);
  const double held = apart(rig.q, start);
  rig.fastest = 0.0;
  for (int k = 0; k < 300; ++k) {  // torques that lead the arm away
    Values torque = compensates ? Values{0.0, 0.0} : rig.gravity();
    torque[0] += 6.0;
    torque[1] += 1.0;
    rig.say(torque);
    rig.step();
  }
  const double led = apart(rig.q, start), speed = rig.fastest;
  const Values last = rig.told, there = rig.q;
  rig.say({1.0});  // what is no command
  rig.say({std::numeric_limits<double>::quiet_NaN(), 0.0});
  rig.run(0.09);
  const double forwarded = apart(rig.told, last);  // until the timeout the last torque is obeyed
  const Values silent = rig.q;
  rig.run(1.0);
  const double travel = apart(rig.q, silent);
  const Values stopped = rig.q;
  rig.run(1.0);
  rig.say({1e6, -1e6});
  const double rest = apart(rig.q, stopped);
  rig.run(0.2);
  rig.q[0] = std::numeric_limits<double>::quiet_NaN();
  const Values sent = rig.told;
  (void)rig.controller.update(rclcpp::Time(rig.time), rclcpp::Duration(kStep));
  std::printf(
    "{\"began\": %s, \"held\": %.9g, \"led\": %.9g, \"speed\": %.9g, \"forwarded\": %.9g, \"travel\": %.9g, \"rest\": %.9g, "
    "\"change\": %.9g, \"over\": %.9g, \"blind\": %.9g}\n",
    began ? "true" : "false", held, led, speed, forwarded, travel, rest, rig.fastest_change, rig.over, apart(sent, rig.told));
}
}  // namespace

int main()
{
  account(false);
  account(true);
  Rig wrong(false);
  wrong.controller.get_node()->parameters["effort"] = Values{40.0};
  std::printf("{\"began\": %s}\n", wrong.begin() ? "true" : "false");
  return 0;
}
