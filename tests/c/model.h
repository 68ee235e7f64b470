/* What plain C of templates/ asks of any robot, with the numbers that a generated model.h has; ROBOT is defined by the robot's header. */
#ifndef MODEL_INCLUDED
#define MODEL_INCLUDED

#include "robot.h"

#define JOINED(a, b) JOINED_AS_THEY_ARE(a, b)
#define JOINED_AS_THEY_ARE(a, b) a##b
#define ROBOT(name) JOINED(own_, name)
#define INNER ROBOT
#define HIDDEN

#include "numbers.h"

#endif
