"""The generated functions as editors and type checkers see them. A robot has those that it was generated with (`diffpbd info`).

Made from codegen/functions.py by `python -m diffpbd.codegen.emit.stub`. Do not edit.
"""

# mypy: disable-error-code="override"

from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from diffpbd.runtime.base.arrays import FloatArray
from diffpbd.runtime.functions.function import Function
from diffpbd.runtime.functions.joint_values import JointValues
from diffpbd.runtime.functions.parameters import Alpha
from diffpbd.runtime.functions.rollout import Rollout as _Rollout
from diffpbd.runtime.functions.rollout import RolloutGradient as _RolloutGradient

class Number(float, npt.NDArray[np.float64]):  # type: ignore[misc]
    """A float; of a batch the array (rows,) of them."""

    def __add__(self, other: npt.ArrayLike) -> Number: ...
    def __radd__(self, other: npt.ArrayLike) -> Number: ...
    def __sub__(self, other: npt.ArrayLike) -> Number: ...
    def __rsub__(self, other: npt.ArrayLike) -> Number: ...
    def __mul__(self, other: npt.ArrayLike) -> Number: ...
    def __rmul__(self, other: npt.ArrayLike) -> Number: ...
    def __truediv__(self, other: npt.ArrayLike) -> Number: ...
    def __rtruediv__(self, other: npt.ArrayLike) -> Number: ...
    def __neg__(self) -> Number: ...
    def __abs__(self) -> Number: ...

class InverseDynamicsResult(npt.NDArray[np.float64]):
    """The array alone, or with more than one output a named tuple of them; which those are depends on the robot."""

    @property
    def u(self) -> FloatArray:
        """[N·m (N where prismatic)] joints, base to tip"""
    @property
    def loop_force(self) -> FloatArray:
        """[N or N·m] kept rows of every loop, on the child; axes of the parent's cut frame"""
    @property
    def unbalanced(self) -> FloatArray:
        """[N·m (N where prismatic)] what motors and loops cannot give; joints, base to tip"""

class InverseDynamics(Function):
    def __call__(self, p: JointValues, pd: JointValues, pdd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> InverseDynamicsResult:
        """Torque that a joint sensor reads: rigid body, rotors, friction, springs, sensor offset.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        pdd: [rad/s^2 (m/s^2 where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacInverseDynamicsResult(tuple[FloatArray, ...]):
    """The array alone, or with more than one output a named tuple of them; which those are depends on the robot."""

    @property
    def u(self) -> FloatArray:
        """[N·m (N where prismatic)] joints, base to tip"""
    @property
    def loop_force(self) -> FloatArray:
        """[N or N·m] kept rows of every loop, on the child; axes of the parent's cut frame"""
    @property
    def unbalanced(self) -> FloatArray:
        """[N·m (N where prismatic)] what motors and loops cannot give; joints, base to tip"""
    @property
    def du_dp(self) -> FloatArray:
        """[u per p] rows: output, columns: input (matrices column by column)"""
    @property
    def du_dpd(self) -> FloatArray:
        """[u per pd] rows: output, columns: input (matrices column by column)"""
    @property
    def du_dpdd(self) -> FloatArray:
        """[u per pdd] rows: output, columns: input (matrices column by column)"""
    @property
    def dloop_force_dp(self) -> FloatArray:
        """[loop_force per p] rows: output, columns: input (matrices column by column)"""
    @property
    def dloop_force_dpd(self) -> FloatArray:
        """[loop_force per pd] rows: output, columns: input (matrices column by column)"""
    @property
    def dloop_force_dpdd(self) -> FloatArray:
        """[loop_force per pdd] rows: output, columns: input (matrices column by column)"""
    @property
    def dunbalanced_dp(self) -> FloatArray:
        """[unbalanced per p] rows: output, columns: input (matrices column by column)"""
    @property
    def dunbalanced_dpd(self) -> FloatArray:
        """[unbalanced per pd] rows: output, columns: input (matrices column by column)"""
    @property
    def dunbalanced_dpdd(self) -> FloatArray:
        """[unbalanced per pdd] rows: output, columns: input (matrices column by column)"""

class JacInverseDynamics(Function):
    def __call__(self, p: JointValues, pd: JointValues, pdd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> JacInverseDynamicsResult:
        """inverse_dynamics and its Jacobian by everything but alpha.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        pdd: [rad/s^2 (m/s^2 where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacAlphaInverseDynamicsResult(npt.NDArray[np.float64]):
    """The array alone, or with more than one output a named tuple of them; which those are depends on the robot."""

    @property
    def du_dalpha(self) -> FloatArray:
        """[u per alpha] rows: output, columns: input (matrices column by column)"""
    @property
    def dloop_force_dalpha(self) -> FloatArray:
        """[loop_force per alpha] rows: output, columns: input (matrices column by column)"""
    @property
    def dunbalanced_dalpha(self) -> FloatArray:
        """[unbalanced per alpha] rows: output, columns: input (matrices column by column)"""

class JacAlphaInverseDynamics(Function):
    def __call__(self, p: JointValues, pd: JointValues, pdd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> JacAlphaInverseDynamicsResult:
        """Jacobian of inverse_dynamics by alpha.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        pdd: [rad/s^2 (m/s^2 where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpInverseDynamicsResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    pd_bar: FloatArray
    """[derivative of a scalar by pd] joints, base to tip"""
    pdd_bar: FloatArray
    """[derivative of a scalar by pdd] joints, base to tip"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpInverseDynamics(Function):
    @overload
    def __call__(self, p: JointValues, pd: JointValues, pdd: JointValues, alpha: Alpha | None = None, *, u_bar: npt.ArrayLike, loop_force_bar: npt.ArrayLike | None = None, unbalanced_bar: npt.ArrayLike | None = None, threads: int = 1) -> VjpInverseDynamicsResult:
        """Reverse derivative of inverse_dynamics: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        pdd: [rad/s^2 (m/s^2 where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        u_bar: [derivative of a scalar by u] joints, base to tip
        loop_force_bar: [derivative of a scalar by loop_force] kept rows of every loop, on the child; axes of the
        parent's cut frame
        unbalanced_bar: [derivative of a scalar by unbalanced] what motors and loops cannot give; joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, pd: JointValues, pdd: JointValues, alpha: Alpha | None, u_bar: npt.ArrayLike, loop_force_bar: npt.ArrayLike | None = None, unbalanced_bar: npt.ArrayLike | None = None, *, threads: int = 1) -> VjpInverseDynamicsResult:
        """Reverse derivative of inverse_dynamics: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        pdd: [rad/s^2 (m/s^2 where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        u_bar: [derivative of a scalar by u] joints, base to tip
        loop_force_bar: [derivative of a scalar by loop_force] kept rows of every loop, on the child; axes of the
        parent's cut frame
        unbalanced_bar: [derivative of a scalar by unbalanced] what motors and loops cannot give; joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class ForwardDynamics(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Joint acceleration under the true torque u.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacForwardDynamicsResult(NamedTuple):
    pdd: FloatArray
    """[rad/s^2 (m/s^2 where prismatic)] joints, base to tip"""
    dpdd_dp: FloatArray
    """[pdd per p] rows: output, columns: input (matrices column by column)"""
    dpdd_dpd: FloatArray
    """[pdd per pd] rows: output, columns: input (matrices column by column)"""
    dpdd_du: FloatArray
    """[pdd per u] rows: output, columns: input (matrices column by column)"""

class JacForwardDynamics(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> JacForwardDynamicsResult:
        """forward_dynamics and its Jacobian by everything but alpha.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacAlphaForwardDynamics(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Jacobian of forward_dynamics by alpha.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpForwardDynamicsResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    pd_bar: FloatArray
    """[derivative of a scalar by pd] joints, base to tip"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpForwardDynamics(Function):
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, alpha: Alpha | None = None, *, pdd_bar: npt.ArrayLike, threads: int = 1) -> VjpForwardDynamicsResult:
        """Reverse derivative of forward_dynamics: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        pdd_bar: [derivative of a scalar by pdd] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, alpha: Alpha | None, pdd_bar: npt.ArrayLike, *, threads: int = 1) -> VjpForwardDynamicsResult:
        """Reverse derivative of forward_dynamics: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        pdd_bar: [derivative of a scalar by pdd] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class MassMatrix(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Joint-space inertia, rotors included.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class Gravity(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Torque that holds the arm against gravity at rest, payload included.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacGravityResult(NamedTuple):
    u: FloatArray
    """[N·m (N where prismatic)] joints, base to tip"""
    du_dp: FloatArray
    """[u per p] rows: output, columns: input (matrices column by column)"""

class JacGravity(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> JacGravityResult:
        """gravity and its Jacobian by everything but alpha.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacAlphaGravity(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Jacobian of gravity by alpha.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpGravityResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpGravity(Function):
    @overload
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, u_bar: npt.ArrayLike, threads: int = 1) -> VjpGravityResult:
        """Reverse derivative of gravity: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        u_bar: [derivative of a scalar by u] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, alpha: Alpha | None, u_bar: npt.ArrayLike, *, threads: int = 1) -> VjpGravityResult:
        """Reverse derivative of gravity: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        u_bar: [derivative of a scalar by u] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class Coriolis(Function):
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Velocity-product torque C(p, pd) pd.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class EnergyResult(NamedTuple):
    kinetic: Number
    """[J]"""
    potential: Number
    """[J]"""

class Energy(Function):
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> EnergyResult:
        """Kinetic energy (rotors included); potential energy of gravity and joint springs, zero at the world origin.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class TipPoseResult(NamedTuple):
    position: FloatArray
    """[m] world (root link)"""
    rotation: FloatArray
    """[1] tip axes in world (root link)"""

class TipPose(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> TipPoseResult:
        """Position and rotation of the tip frame.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacTipPoseResult(NamedTuple):
    position: FloatArray
    """[m] world (root link)"""
    rotation: FloatArray
    """[1] tip axes in world (root link)"""
    dposition_dp: FloatArray
    """[position per p] rows: output, columns: input (matrices column by column)"""
    drotation_dp: FloatArray
    """[rotation per p] rows: output, columns: input (matrices column by column)"""

class JacTipPose(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> JacTipPoseResult:
        """tip_pose and its Jacobian by everything but alpha.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacAlphaTipPoseResult(NamedTuple):
    dposition_dalpha: FloatArray
    """[position per alpha] rows: output, columns: input (matrices column by column)"""
    drotation_dalpha: FloatArray
    """[rotation per alpha] rows: output, columns: input (matrices column by column)"""

class JacAlphaTipPose(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> JacAlphaTipPoseResult:
        """Jacobian of tip_pose by alpha.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpTipPoseResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpTipPose(Function):
    @overload
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, position_bar: npt.ArrayLike, rotation_bar: npt.ArrayLike, threads: int = 1) -> VjpTipPoseResult:
        """Reverse derivative of tip_pose: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        position_bar: [derivative of a scalar by position] world (root link)
        rotation_bar: [derivative of a scalar by rotation] tip axes in world (root link)

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, alpha: Alpha | None, position_bar: npt.ArrayLike, rotation_bar: npt.ArrayLike, *, threads: int = 1) -> VjpTipPoseResult:
        """Reverse derivative of tip_pose: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        position_bar: [derivative of a scalar by position] world (root link)
        rotation_bar: [derivative of a scalar by rotation] tip axes in world (root link)

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class TipJacobian(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Geometric Jacobian of the tip frame.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class FramePoseResult(NamedTuple):
    position: FloatArray
    """[m] world (root link)"""
    rotation: FloatArray
    """[1] tip axes in world (root link)"""

class FramePose(Function):
    def __call__(self, p: JointValues, frame: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FramePoseResult:
        """Position and rotation of a frame, by default the tip's.

        p: [rad (m where prismatic)] joints, base to tip
        frame: [1] its name, in C an entry of the header's enum of frames
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class FrameJacobian(Function):
    def __call__(self, p: JointValues, frame: npt.ArrayLike | None = None, reference: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Velocity of a frame, linear then angular, per joint rate.

        p: [rad (m where prismatic)] joints, base to tip
        frame: [1] its name, in C an entry of the header's enum of frames
        reference: [1] world, local or local_world_aligned: the axes and the point; in C an entry of the header's enum
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class FrameVelocity(Function):
    def __call__(self, p: JointValues, pd: JointValues, frame: npt.ArrayLike | None = None, reference: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Velocity of a frame, linear then angular.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        frame: [1] its name, in C an entry of the header's enum of frames
        reference: [1] world, local or local_world_aligned: the axes and the point; in C an entry of the header's enum
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class FrameAccelerationResult(NamedTuple):
    spatial: FloatArray
    """[m/s^2 and rad/s^2] linear, then angular, as reference says"""
    classical: FloatArray
    """[m/s^2 and rad/s^2] spatial with omega x v in its linear part: of the frame's origin where reference is at it"""

class FrameAcceleration(Function):
    def __call__(self, p: JointValues, pd: JointValues, pdd: JointValues, frame: npt.ArrayLike | None = None, reference: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FrameAccelerationResult:
        """Acceleration of a frame, linear then angular: spatial, and classical, that of the point.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        pdd: [rad/s^2 (m/s^2 where prismatic)] joints, base to tip
        frame: [1] its name, in C an entry of the header's enum of frames
        reference: [1] world, local or local_world_aligned: the axes and the point; in C an entry of the header's enum
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class IkResult(NamedTuple):
    p: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    ik_info: FloatArray
    """[m, rad, 1] misses of position and rotation, the start that found p, steps of all starts; of a robot with
    distances p's least one [m], 1e20 where none are kept
    """

class Ik(Function):
    @overload
    def __call__(self, goal_position: npt.ArrayLike, goal_rotation: npt.ArrayLike, goal_weights: npt.ArrayLike, p0: JointValues, fixed: npt.ArrayLike, frame: npt.ArrayLike | None = None, *, ik_options: npt.ArrayLike, alpha: Alpha | None = None, keep_apart: npt.ArrayLike | None = None, spheres: npt.ArrayLike | None = None, capsules: npt.ArrayLike | None = None, boxes: npt.ArrayLike | None = None, planes: npt.ArrayLike | None = None, threads: int = 1) -> IkResult:
        """Inverse kinematics: the position of the first start that brings a frame to a goal within the joint limits.

        goal_position: [m] world (root link)
        goal_rotation: [1] frame axes in world (root link)
        goal_weights: [1/m, 1/rad] of position and rotation; 0 leaves either out
        p0: [rad (m where prismatic)] joints, base to tip
        fixed: [1] 1 keeps a coordinate as it is, 0 lets it change
        frame: [1] its name, in C an entry of the header's enum of frames
        ik_options: [m, rad, 1] 0 and 1 misses that count as none (1e-6 both); 2 starts (20); 3 the first of them (0,
        which is p0); 4 most steps of each (100); 5 what is left free at every limit that has room for it (0); 0 or
        less: the number in brackets
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        keep_apart: [m, cost per m, 1] 0 least distance, of what is nearer at the start of mpc its distance there and
        5 cm/s more; 1 price of a metre less, 0: distances are not kept; 2 above 0: a plan that is nearer, and nearer
        than the start, by 1 mm is none; ik never gives less
        spheres: [m] world (root link); a column each: centre, radius
        capsules: [m] world (root link); a column each: both ends of the axis, radius
        boxes: [m, 1 (quaternion wxyz)] world (root link); a column each: centre, quaternion, lengths of the sides
        planes: [1, m] world (root link); a column each: normal away from the solid, height along it

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, goal_position: npt.ArrayLike, goal_rotation: npt.ArrayLike, goal_weights: npt.ArrayLike, p0: JointValues, fixed: npt.ArrayLike, frame: npt.ArrayLike | None, ik_options: npt.ArrayLike, alpha: Alpha | None = None, keep_apart: npt.ArrayLike | None = None, spheres: npt.ArrayLike | None = None, capsules: npt.ArrayLike | None = None, boxes: npt.ArrayLike | None = None, planes: npt.ArrayLike | None = None, *, threads: int = 1) -> IkResult:
        """Inverse kinematics: the position of the first start that brings a frame to a goal within the joint limits.

        goal_position: [m] world (root link)
        goal_rotation: [1] frame axes in world (root link)
        goal_weights: [1/m, 1/rad] of position and rotation; 0 leaves either out
        p0: [rad (m where prismatic)] joints, base to tip
        fixed: [1] 1 keeps a coordinate as it is, 0 lets it change
        frame: [1] its name, in C an entry of the header's enum of frames
        ik_options: [m, rad, 1] 0 and 1 misses that count as none (1e-6 both); 2 starts (20); 3 the first of them (0,
        which is p0); 4 most steps of each (100); 5 what is left free at every limit that has room for it (0); 0 or
        less: the number in brackets
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        keep_apart: [m, cost per m, 1] 0 least distance, of what is nearer at the start of mpc its distance there and
        5 cm/s more; 1 price of a metre less, 0: distances are not kept; 2 above 0: a plan that is nearer, and nearer
        than the start, by 1 mm is none; ik never gives less
        spheres: [m] world (root link); a column each: centre, radius
        capsules: [m] world (root link); a column each: both ends of the axis, radius
        boxes: [m, 1 (quaternion wxyz)] world (root link); a column each: centre, quaternion, lengths of the sides
        planes: [1, m] world (root link); a column each: normal away from the solid, height along it

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class Regressor(Function):
    def __call__(self, p: JointValues, pd: JointValues, pdd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Rigid-body torque per inertial parameter of each link: u = Y theta, payload left out.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        pdd: [rad/s^2 (m/s^2 where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class SpringTorque(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Torque of the joint springs.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class FrictionTorque(Function):
    def __call__(self, pd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Torque of joint friction, viscous plus smoothed Coulomb.

        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class DeflectionNext(Function):
    def __call__(self, pd_next: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Deflection of every joint's friction with memory at the end of a joint_step, by the rates there.

        pd_next: [rad/s (m/s where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacDeflectionNextResult(NamedTuple):
    deflection: FloatArray
    """[1] joint by joint as friction.deflection in alpha; from -1 to 1"""
    ddeflection_dpd_next: FloatArray
    """[deflection per pd_next] rows: output, columns: input (matrices column by column)"""

class JacDeflectionNext(Function):
    def __call__(self, pd_next: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> JacDeflectionNextResult:
        """deflection_next and its Jacobian by everything but alpha.

        pd_next: [rad/s (m/s where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacAlphaDeflectionNext(Function):
    def __call__(self, pd_next: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Jacobian of deflection_next by alpha.

        pd_next: [rad/s (m/s where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpDeflectionNextResult(NamedTuple):
    pd_next_bar: FloatArray
    """[derivative of a scalar by pd_next] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpDeflectionNext(Function):
    @overload
    def __call__(self, pd_next: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, deflection_bar: npt.ArrayLike, threads: int = 1) -> VjpDeflectionNextResult:
        """Reverse derivative of deflection_next: seeds on the outputs, gradients by every input.

        pd_next: [rad/s (m/s where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        deflection_bar: [derivative of a scalar by deflection] joint by joint as friction.deflection in alpha; from -1
        to 1

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, pd_next: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, deflection_bar: npt.ArrayLike, *, threads: int = 1) -> VjpDeflectionNextResult:
        """Reverse derivative of deflection_next: seeds on the outputs, gradients by every input.

        pd_next: [rad/s (m/s where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        deflection_bar: [derivative of a scalar by deflection] joint by joint as friction.deflection in alpha; from -1
        to 1

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class LeverSpringTorque(Function):
    def __call__(self, angle: npt.ArrayLike, lever_stiffness: npt.ArrayLike, arm_1: npt.ArrayLike, arm_2: npt.ArrayLike, lever_offset: npt.ArrayLike, lever_rest: npt.ArrayLike, *, threads: int = 1) -> Number:
        """Torque of a straight spring between two lever arms about a joint.

        angle: [rad] of the joint that the spring acts on
        lever_stiffness: [N/m]
        arm_1: [m] joint to the spring's end on the parent
        arm_2: [m] joint to the spring's end on the child
        lever_offset: [rad] the angle between the arms is pi - offset - angle
        lever_rest: [m]

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class TorqueTerms(Function):
    def __call__(self, p: JointValues, pd: JointValues, pdd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """What inverse_dynamics is linear in: inverse_dynamics = terms phi.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        pdd: [rad/s^2 (m/s^2 where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class TorqueCoefficients(Function):
    def __call__(self, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Coefficients of torque_terms: inertial parameters, friction, rotors, offsets, springs.

        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JointStepResult(NamedTuple):
    p_next: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    pd_next: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""

class JointStep(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> JointStepResult:
        """One second-order symplectic step on joint coordinates.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacJointStepResult(NamedTuple):
    p_next: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    pd_next: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""
    dp_next_dp: FloatArray
    """[p_next per p] rows: output, columns: input (matrices column by column)"""
    dp_next_dpd: FloatArray
    """[p_next per pd] rows: output, columns: input (matrices column by column)"""
    dp_next_du: FloatArray
    """[p_next per u] rows: output, columns: input (matrices column by column)"""
    dpd_next_dp: FloatArray
    """[pd_next per p] rows: output, columns: input (matrices column by column)"""
    dpd_next_dpd: FloatArray
    """[pd_next per pd] rows: output, columns: input (matrices column by column)"""
    dpd_next_du: FloatArray
    """[pd_next per u] rows: output, columns: input (matrices column by column)"""

class JacJointStep(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> JacJointStepResult:
        """joint_step and its Jacobian by p, pd and u.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacAlphaJointStepResult(NamedTuple):
    dp_next_dalpha: FloatArray
    """[p_next per alpha] rows: output, columns: input (matrices column by column)"""
    dpd_next_dalpha: FloatArray
    """[pd_next per alpha] rows: output, columns: input (matrices column by column)"""

class JacAlphaJointStep(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> JacAlphaJointStepResult:
        """Jacobian of joint_step by alpha.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpJointStepResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    pd_bar: FloatArray
    """[derivative of a scalar by pd] joints, base to tip"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpJointStep(Function):
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, p_next_bar: npt.ArrayLike, pd_next_bar: npt.ArrayLike, threads: int = 1) -> VjpJointStepResult:
        """Reverse derivative of joint_step.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_next_bar: [derivative of a scalar by p_next] joints, base to tip
        pd_next_bar: [derivative of a scalar by pd_next] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, p_next_bar: npt.ArrayLike, pd_next_bar: npt.ArrayLike, *, threads: int = 1) -> VjpJointStepResult:
        """Reverse derivative of joint_step.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_next_bar: [derivative of a scalar by p_next] joints, base to tip
        pd_next_bar: [derivative of a scalar by pd_next] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacKickedStepResult(NamedTuple):
    p_next: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    pd_next: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""
    dp_next_dp: FloatArray
    """[p_next per p] rows: output, columns: input (matrices column by column)"""
    dp_next_dpd: FloatArray
    """[p_next per pd] rows: output, columns: input (matrices column by column)"""
    dp_next_du: FloatArray
    """[p_next per u] rows: output, columns: input (matrices column by column)"""
    dpd_next_dp: FloatArray
    """[pd_next per p] rows: output, columns: input (matrices column by column)"""
    dpd_next_dpd: FloatArray
    """[pd_next per pd] rows: output, columns: input (matrices column by column)"""
    dpd_next_du: FloatArray
    """[pd_next per u] rows: output, columns: input (matrices column by column)"""

class JacKickedStep(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, kick: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> JacKickedStepResult:
        """joint_step with a known impulse on the joints at its end, and its Jacobian by p, pd and u.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        kick: [N·m·s (N·s where prismatic)] joints, base to tip; at the end of the step
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class FourthOrderStepResult(NamedTuple):
    p_next: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    pd_next: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""

class FourthOrderStep(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FourthOrderStepResult:
        """Five joint_steps, the third backwards in time, by Suzuki's composition; no friction.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacFourthOrderStepResult(NamedTuple):
    p_next: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    pd_next: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""
    dp_next_dp: FloatArray
    """[p_next per p] rows: output, columns: input (matrices column by column)"""
    dp_next_dpd: FloatArray
    """[p_next per pd] rows: output, columns: input (matrices column by column)"""
    dp_next_du: FloatArray
    """[p_next per u] rows: output, columns: input (matrices column by column)"""
    dpd_next_dp: FloatArray
    """[pd_next per p] rows: output, columns: input (matrices column by column)"""
    dpd_next_dpd: FloatArray
    """[pd_next per pd] rows: output, columns: input (matrices column by column)"""
    dpd_next_du: FloatArray
    """[pd_next per u] rows: output, columns: input (matrices column by column)"""

class JacFourthOrderStep(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> JacFourthOrderStepResult:
        """fourth_order_step and its Jacobian by everything but alpha.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpFourthOrderStepResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    pd_bar: FloatArray
    """[derivative of a scalar by pd] joints, base to tip"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpFourthOrderStep(Function):
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, p_next_bar: npt.ArrayLike, pd_next_bar: npt.ArrayLike, threads: int = 1) -> VjpFourthOrderStepResult:
        """Reverse derivative of fourth_order_step: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_next_bar: [derivative of a scalar by p_next] joints, base to tip
        pd_next_bar: [derivative of a scalar by pd_next] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, p_next_bar: npt.ArrayLike, pd_next_bar: npt.ArrayLike, *, threads: int = 1) -> VjpFourthOrderStepResult:
        """Reverse derivative of fourth_order_step: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_next_bar: [derivative of a scalar by p_next] joints, base to tip
        pd_next_bar: [derivative of a scalar by pd_next] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class FourthOrderRolloutResult(NamedTuple):
    P: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    PD: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""

class FourthOrderRollout(Function):
    def __call__(self, p0: JointValues, pd0: JointValues, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FourthOrderRolloutResult:
        """fourth_order_step repeated over the columns of U; P and PD hold the start and every step's end.

        p0: [rad (m where prismatic)] joints, base to tip
        pd0: [rad/s (m/s where prismatic)] joints, base to tip
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpFourthOrderRolloutResult(NamedTuple):
    p0_bar: FloatArray
    """[derivative of a scalar by p0] joints, base to tip"""
    pd0_bar: FloatArray
    """[derivative of a scalar by pd0] joints, base to tip"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpFourthOrderRollout(Function):
    @overload
    def __call__(self, p0: JointValues, pd0: JointValues, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, P_bar: npt.ArrayLike, PD_bar: npt.ArrayLike, threads: int = 1) -> VjpFourthOrderRolloutResult:
        """Reverse derivative of fourth_order_rollout: seeds on the outputs, gradients by every input.

        p0: [rad (m where prismatic)] joints, base to tip
        pd0: [rad/s (m/s where prismatic)] joints, base to tip
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        P_bar: [derivative of a scalar by P] joints, base to tip
        PD_bar: [derivative of a scalar by PD] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p0: JointValues, pd0: JointValues, U: npt.ArrayLike, h: npt.ArrayLike | None, alpha: Alpha | None, P_bar: npt.ArrayLike, PD_bar: npt.ArrayLike, *, threads: int = 1) -> VjpFourthOrderRolloutResult:
        """Reverse derivative of fourth_order_rollout: seeds on the outputs, gradients by every input.

        p0: [rad (m where prismatic)] joints, base to tip
        pd0: [rad/s (m/s where prismatic)] joints, base to tip
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        P_bar: [derivative of a scalar by P] joints, base to tip
        PD_bar: [derivative of a scalar by PD] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class SixthOrderStepResult(NamedTuple):
    p_next: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    pd_next: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""

class SixthOrderStep(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> SixthOrderStepResult:
        """joint_steps over h, h/2 and h/3, extrapolated to sixth order; no friction.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacSixthOrderStepResult(NamedTuple):
    p_next: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    pd_next: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""
    dp_next_dp: FloatArray
    """[p_next per p] rows: output, columns: input (matrices column by column)"""
    dp_next_dpd: FloatArray
    """[p_next per pd] rows: output, columns: input (matrices column by column)"""
    dp_next_du: FloatArray
    """[p_next per u] rows: output, columns: input (matrices column by column)"""
    dpd_next_dp: FloatArray
    """[pd_next per p] rows: output, columns: input (matrices column by column)"""
    dpd_next_dpd: FloatArray
    """[pd_next per pd] rows: output, columns: input (matrices column by column)"""
    dpd_next_du: FloatArray
    """[pd_next per u] rows: output, columns: input (matrices column by column)"""

class JacSixthOrderStep(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> JacSixthOrderStepResult:
        """sixth_order_step and its Jacobian by everything but alpha.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpSixthOrderStepResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    pd_bar: FloatArray
    """[derivative of a scalar by pd] joints, base to tip"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpSixthOrderStep(Function):
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, p_next_bar: npt.ArrayLike, pd_next_bar: npt.ArrayLike, threads: int = 1) -> VjpSixthOrderStepResult:
        """Reverse derivative of sixth_order_step: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_next_bar: [derivative of a scalar by p_next] joints, base to tip
        pd_next_bar: [derivative of a scalar by pd_next] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, p_next_bar: npt.ArrayLike, pd_next_bar: npt.ArrayLike, *, threads: int = 1) -> VjpSixthOrderStepResult:
        """Reverse derivative of sixth_order_step: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_next_bar: [derivative of a scalar by p_next] joints, base to tip
        pd_next_bar: [derivative of a scalar by pd_next] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class SixthOrderRolloutResult(NamedTuple):
    P: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    PD: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""

class SixthOrderRollout(Function):
    def __call__(self, p0: JointValues, pd0: JointValues, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> SixthOrderRolloutResult:
        """sixth_order_step repeated over the columns of U; P and PD hold the start and every step's end.

        p0: [rad (m where prismatic)] joints, base to tip
        pd0: [rad/s (m/s where prismatic)] joints, base to tip
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpSixthOrderRolloutResult(NamedTuple):
    p0_bar: FloatArray
    """[derivative of a scalar by p0] joints, base to tip"""
    pd0_bar: FloatArray
    """[derivative of a scalar by pd0] joints, base to tip"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpSixthOrderRollout(Function):
    @overload
    def __call__(self, p0: JointValues, pd0: JointValues, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, P_bar: npt.ArrayLike, PD_bar: npt.ArrayLike, threads: int = 1) -> VjpSixthOrderRolloutResult:
        """Reverse derivative of sixth_order_rollout: seeds on the outputs, gradients by every input.

        p0: [rad (m where prismatic)] joints, base to tip
        pd0: [rad/s (m/s where prismatic)] joints, base to tip
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        P_bar: [derivative of a scalar by P] joints, base to tip
        PD_bar: [derivative of a scalar by PD] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p0: JointValues, pd0: JointValues, U: npt.ArrayLike, h: npt.ArrayLike | None, alpha: Alpha | None, P_bar: npt.ArrayLike, PD_bar: npt.ArrayLike, *, threads: int = 1) -> VjpSixthOrderRolloutResult:
        """Reverse derivative of sixth_order_rollout: seeds on the outputs, gradients by every input.

        p0: [rad (m where prismatic)] joints, base to tip
        pd0: [rad/s (m/s where prismatic)] joints, base to tip
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        P_bar: [derivative of a scalar by P] joints, base to tip
        PD_bar: [derivative of a scalar by PD] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class NodeTorque(Function):
    def __call__(self, p_prev: JointValues, p: JointValues, p_next: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Torque from three poses: the discrete Euler-Lagrange equation at the middle one, sensor offset included.

        p_prev: [rad (m where prismatic)] joints, base to tip
        p: [rad (m where prismatic)] joints, base to tip
        p_next: [rad (m where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class RolloutResult(NamedTuple):
    P: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    PD: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""

class Rollout(_Rollout):
    def __call__(self, p0: JointValues, pd0: JointValues, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> RolloutResult:
        """joint_step repeated over the columns of U; P and PD hold the start and every step's end.

        p0: [rad (m where prismatic)] joints, base to tip
        pd0: [rad/s (m/s where prismatic)] joints, base to tip
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpRolloutResult(NamedTuple):
    p0_bar: FloatArray
    """[derivative of a scalar by p0] joints, base to tip"""
    pd0_bar: FloatArray
    """[derivative of a scalar by pd0] joints, base to tip"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpRollout(_RolloutGradient):
    def __call__(self, p0: JointValues, pd0: JointValues, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, P_bar: npt.ArrayLike | None = None, PD_bar: npt.ArrayLike | None = None, *, threads: int = 1, segment: int | None = None) -> VjpRolloutResult:
        """Reverse derivative of rollout; with h_bar and alpha_bar both NULL those two are left out and cost nothing.

        p0: [rad (m where prismatic)] joints, base to tip
        pd0: [rad/s (m/s where prismatic)] joints, base to tip
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        P_bar: [derivative of a scalar by P] joints, base to tip
        PD_bar: [derivative of a scalar by PD] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpTrajectoryResult(NamedTuple):
    p0_bar: FloatArray
    """[derivative of a scalar by p0] joints, base to tip"""
    pd0_bar: FloatArray
    """[derivative of a scalar by pd0] joints, base to tip"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpTrajectory(_RolloutGradient):
    @overload
    def __call__(self, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, P: npt.ArrayLike, PD: npt.ArrayLike, P_bar: npt.ArrayLike | None = None, PD_bar: npt.ArrayLike | None = None, threads: int = 1, segment: int | None = None) -> VjpTrajectoryResult:
        """Reverse derivative of rollout along a trajectory P, PD that it gave; otherwise as vjp_rollout.

        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        P: [rad (m where prismatic)] joints, base to tip
        PD: [rad/s (m/s where prismatic)] joints, base to tip
        P_bar: [derivative of a scalar by P] joints, base to tip
        PD_bar: [derivative of a scalar by PD] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, U: npt.ArrayLike, h: npt.ArrayLike | None, alpha: Alpha | None, P: npt.ArrayLike, PD: npt.ArrayLike, P_bar: npt.ArrayLike | None = None, PD_bar: npt.ArrayLike | None = None, *, threads: int = 1, segment: int | None = None) -> VjpTrajectoryResult:
        """Reverse derivative of rollout along a trajectory P, PD that it gave; otherwise as vjp_rollout.

        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        P: [rad (m where prismatic)] joints, base to tip
        PD: [rad/s (m/s where prismatic)] joints, base to tip
        P_bar: [derivative of a scalar by P] joints, base to tip
        PD_bar: [derivative of a scalar by PD] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class RolloutImpulsesResult(tuple[FloatArray, ...]):
    """The array alone, or with more than one output a named tuple of them; which those are depends on the robot."""

    @property
    def P(self) -> FloatArray:
        """[rad (m where prismatic)] joints, base to tip"""
    @property
    def PD(self) -> FloatArray:
        """[rad/s (m/s where prismatic)] joints, base to tip"""
    @property
    def counters(self) -> FloatArray:
        """[1] a column a step: iterations of pose and rate stage, level of either (0: at the final slip, 1: slip fell,
        2: by more), evaluations of both
        """
    @property
    def loop_impulse(self) -> FloatArray:
        """[N·s or N·m·s] kept rows of every loop; axes of the parent's cut frame at the start"""
    @property
    def loop_impulse_next(self) -> FloatArray:
        """[N·s or N·m·s] the same of the rate stage, at the end"""
    @property
    def limit_impulse(self) -> FloatArray:
        """[N·m·s (N·s)] of joints' limits, the lower before the upper; of the pose stage"""
    @property
    def limit_impulse_next(self) -> FloatArray:
        """[N·m·s (N·s)] as limit_impulse, of the rate stage"""
    @property
    def contact_impulse(self) -> FloatArray:
        """[N·s] contact by contact: the normal one, then along two tangents; the normal one alone without friction; last
        those of torsional and of rolling friction, over their coefficients
        """
    @property
    def contact_impulse_next(self) -> FloatArray:
        """[N·s] of the rate stage; contact by contact: the normal one, then along two tangents; the normal one alone
        without friction; last those of torsional and of rolling friction, over their coefficients
        """

class RolloutImpulses(_Rollout):
    def __call__(self, p0: JointValues, pd0: JointValues, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> RolloutImpulsesResult:
        """rollout with what it took: iterations, and the impulses of loops, limits and contacts in every step.

        p0: [rad (m where prismatic)] joints, base to tip
        pd0: [rad/s (m/s where prismatic)] joints, base to tip
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class EstimateTorqueResult(NamedTuple):
    U: FloatArray
    """[N·m (N where prismatic)] joints, base to tip"""
    P: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    PD: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""
    loss: Number
    """[1]"""
    change: Number
    """[N·m (N where prismatic)] largest of the last iteration"""

class EstimateTorque(_Rollout):
    def __call__(self, p0: JointValues, pd0: JointValues, U_start: npt.ArrayLike, P_ref: npt.ArrayLike, PD_ref: npt.ArrayLike, u_prev: JointValues, lambdas: npt.ArrayLike, known_friction: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> EstimateTorqueResult:
        """Torques of a window of joint_steps that come closest to recorded positions and angular velocities (Gauss-
        Newton from U_start); what no term of the loss depends on stays as it was.

        p0: [rad (m where prismatic)] joints, base to tip
        pd0: [rad/s (m/s where prismatic)] joints, base to tip
        U_start: [N·m (N where prismatic)] joints, base to tip
        P_ref: [rad (m where prismatic)] joints, base to tip; a column a node: the ends of the steps, with N + 1
        columns their start first, which is not used
        PD_ref: [rad/s (m/s where prismatic)] joints, base to tip; a column a node: the ends of the steps, with N + 1
        columns their start first, which is not used
        u_prev: [N·m (N where prismatic)] joints, base to tip
        lambdas: [1/rad^2, s^2/rad^2, 1/(N·m)^2] of positions, of angular velocities (rates of slides), of torque
        changes
        known_friction: [1] 0: friction belongs to the steps, else it acts at the rates PD_ref
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class MpcResult(NamedTuple):
    U: FloatArray
    """[N·m (N where prismatic)] joints, base to tip"""
    P: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    PD: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""
    info: FloatArray
    """[1] 0 cost; 1 largest defect of the last guess; 2 last relative change of u; 3 programs; 4 their iterations; 5
    largest excess over bounds of p and pd; 6 last relative gap; 7 last step length; of a robot with distances 8
    the plan's least one [m], 1e20 where none are kept
    """

class Mpc(_Rollout):
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u_last: npt.ArrayLike, P_ref: npt.ArrayLike, PD_ref: npt.ArrayLike, U_ref: npt.ArrayLike, tip_ref: npt.ArrayLike, weights: npt.ArrayLike, tip_weights: npt.ArrayLike, bounds: npt.ArrayLike, options: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, P_guess: npt.ArrayLike, PD_guess: npt.ArrayLike, U_guess: npt.ArrayLike, keep_apart: npt.ArrayLike | None = None, spheres: npt.ArrayLike | None = None, capsules: npt.ArrayLike | None = None, boxes: npt.ArrayLike | None = None, planes: npt.ArrayLike | None = None, threads: int = 1) -> MpcResult:
        """Plan of N torques along a reference, bounded: sequential quadratic programs over joint_step.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u_last: [N·m (N where prismatic)] torque before the first step; joints, base to tip
        P_ref: [rad (m where prismatic)] joints, base to tip; a column a node: the ends of the steps, with N + 1
        columns their start first, which is not used
        PD_ref: [rad/s (m/s where prismatic)] joints, base to tip; a column a node: the ends of the steps, with N + 1
        columns their start first, which is not used
        U_ref: [N·m (N where prismatic)] joints, base to tip; a column a step
        tip_ref: [m] world (root link); a column a node, the first is not used
        weights: [cost per unit^2] columns: p, pd, u, change of u, p at the end, pd at the end
        tip_weights: [cost per m^2] columns: along the way, at the end
        bounds: [as what they bound] columns: least u, most u, most change of u in a step, least p, most p, most |pd|
        options: [1, cost per unit] 0 start (0: guess, 1: guess moved on by a step, 2: cold, guess not read); 1 most
        quadratic programs (1: one real-time iteration); 2 most iterations of each, up to 10: rounds of the active-set
        method alone, and where they end early, status 5 and a plan that keeps the torque bounds at no more cost than
        the guess; 3 relative gap and 4 relative change of u at which to stop; 5, 6 price of a unit beyond bounds of p
        and pd
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        P_guess: [rad (m where prismatic)] joints, base to tip; a column a node: the ends of the steps, with N + 1
        columns their start first, which is not used
        PD_guess: [rad/s (m/s where prismatic)] joints, base to tip; a column a node: the ends of the steps, with N +
        1 columns their start first, which is not used
        U_guess: [N·m (N where prismatic)] joints, base to tip; a column a step
        keep_apart: [m, cost per m, 1] 0 least distance, of what is nearer at the start of mpc its distance there and
        5 cm/s more; 1 price of a metre less, 0: distances are not kept; 2 above 0: a plan that is nearer, and nearer
        than the start, by 1 mm is none; ik never gives less
        spheres: [m] world (root link); a column each: centre, radius
        capsules: [m] world (root link); a column each: both ends of the axis, radius
        boxes: [m, 1 (quaternion wxyz)] world (root link); a column each: centre, quaternion, lengths of the sides
        planes: [1, m] world (root link); a column each: normal away from the solid, height along it

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u_last: npt.ArrayLike, P_ref: npt.ArrayLike, PD_ref: npt.ArrayLike, U_ref: npt.ArrayLike, tip_ref: npt.ArrayLike, weights: npt.ArrayLike, tip_weights: npt.ArrayLike, bounds: npt.ArrayLike, options: npt.ArrayLike, h: npt.ArrayLike | None, alpha: Alpha | None, P_guess: npt.ArrayLike, PD_guess: npt.ArrayLike, U_guess: npt.ArrayLike, keep_apart: npt.ArrayLike | None = None, spheres: npt.ArrayLike | None = None, capsules: npt.ArrayLike | None = None, boxes: npt.ArrayLike | None = None, planes: npt.ArrayLike | None = None, *, threads: int = 1) -> MpcResult:
        """Plan of N torques along a reference, bounded: sequential quadratic programs over joint_step.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u_last: [N·m (N where prismatic)] torque before the first step; joints, base to tip
        P_ref: [rad (m where prismatic)] joints, base to tip; a column a node: the ends of the steps, with N + 1
        columns their start first, which is not used
        PD_ref: [rad/s (m/s where prismatic)] joints, base to tip; a column a node: the ends of the steps, with N + 1
        columns their start first, which is not used
        U_ref: [N·m (N where prismatic)] joints, base to tip; a column a step
        tip_ref: [m] world (root link); a column a node, the first is not used
        weights: [cost per unit^2] columns: p, pd, u, change of u, p at the end, pd at the end
        tip_weights: [cost per m^2] columns: along the way, at the end
        bounds: [as what they bound] columns: least u, most u, most change of u in a step, least p, most p, most |pd|
        options: [1, cost per unit] 0 start (0: guess, 1: guess moved on by a step, 2: cold, guess not read); 1 most
        quadratic programs (1: one real-time iteration); 2 most iterations of each, up to 10: rounds of the active-set
        method alone, and where they end early, status 5 and a plan that keeps the torque bounds at no more cost than
        the guess; 3 relative gap and 4 relative change of u at which to stop; 5, 6 price of a unit beyond bounds of p
        and pd
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        P_guess: [rad (m where prismatic)] joints, base to tip; a column a node: the ends of the steps, with N + 1
        columns their start first, which is not used
        PD_guess: [rad/s (m/s where prismatic)] joints, base to tip; a column a node: the ends of the steps, with N +
        1 columns their start first, which is not used
        U_guess: [N·m (N where prismatic)] joints, base to tip; a column a step
        keep_apart: [m, cost per m, 1] 0 least distance, of what is nearer at the start of mpc its distance there and
        5 cm/s more; 1 price of a metre less, 0: distances are not kept; 2 above 0: a plan that is nearer, and nearer
        than the start, by 1 mm is none; ik never gives less
        spheres: [m] world (root link); a column each: centre, radius
        capsules: [m] world (root link); a column each: both ends of the axis, radius
        boxes: [m, 1 (quaternion wxyz)] world (root link); a column each: centre, quaternion, lengths of the sides
        planes: [1, m] world (root link); a column each: normal away from the solid, height along it

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class DampedHold(Function):
    def __call__(self, p: JointValues, pd: JointValues, u_lower: npt.ArrayLike, u_upper: npt.ArrayLike, delay: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Torque of the motors, within bounds, that holds a pose and damps its motion, stable in sampled control.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u_lower: [N·m (N where prismatic)] least u; joints, base to tip
        u_upper: [N·m (N where prismatic)] most u; joints, base to tip
        delay: [1] steps h from the measurement of p and pd until u acts, 0 or more
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class Fk(Function):
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Maximal state of every link from joint positions and rates.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpFkResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    pd_bar: FloatArray
    """[derivative of a scalar by pd] joints, base to tip"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpFk(Function):
    @overload
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None = None, *, xi_bar: npt.ArrayLike, threads: int = 1) -> VjpFkResult:
        """Reverse derivative of fk: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_bar: [derivative of a scalar by xi] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None, xi_bar: npt.ArrayLike, *, threads: int = 1) -> VjpFkResult:
        """Reverse derivative of fk: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_bar: [derivative of a scalar by xi] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JointStateResult(NamedTuple):
    p: FloatArray
    """[rad (m where prismatic)] joints, base to tip"""
    pd: FloatArray
    """[rad/s (m/s where prismatic)] joints, base to tip"""

class JointState(Function):
    def __call__(self, xi: npt.ArrayLike, alpha: Alpha | None = None, p_ref: JointValues | None = None, *, threads: int = 1) -> JointStateResult:
        """Joint positions and rates from the maximal state; p is unwrapped to within half a turn of p_ref.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_ref: [rad (m where prismatic)] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpJointStateResult(NamedTuple):
    xi_bar: FloatArray
    """[derivative of a scalar by xi] world (root link); x, v, q, omega of each link's COM"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""
    p_ref_bar: FloatArray
    """[derivative of a scalar by p_ref] joints, base to tip"""

class VjpJointState(Function):
    @overload
    def __call__(self, xi: npt.ArrayLike, alpha: Alpha | None = None, p_ref: JointValues | None = None, *, p_bar: npt.ArrayLike, pd_bar: npt.ArrayLike, threads: int = 1) -> VjpJointStateResult:
        """Reverse derivative of joint_state: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_ref: [rad (m where prismatic)] joints, base to tip
        p_bar: [derivative of a scalar by p] joints, base to tip
        pd_bar: [derivative of a scalar by pd] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, xi: npt.ArrayLike, alpha: Alpha | None, p_ref: JointValues | None, p_bar: npt.ArrayLike, pd_bar: npt.ArrayLike, *, threads: int = 1) -> VjpJointStateResult:
        """Reverse derivative of joint_state: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_ref: [rad (m where prismatic)] joints, base to tip
        p_bar: [derivative of a scalar by p] joints, base to tip
        pd_bar: [derivative of a scalar by pd] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class Step(Function):
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """One step on the maximal state:

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpStepResult(NamedTuple):
    xi_bar: FloatArray
    """[derivative of a scalar by xi] world (root link); x, v, q, omega of each link's COM"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpStep(Function):
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, xi_next_bar: npt.ArrayLike, threads: int = 1) -> VjpStepResult:
        """Reverse derivative of step: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, xi_next_bar: npt.ArrayLike, *, threads: int = 1) -> VjpStepResult:
        """Reverse derivative of step: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class RolloutStep(_Rollout):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """repeated over the columns of U; XI holds the start and every step's end.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpRolloutStepResult(NamedTuple):
    xi0_bar: FloatArray
    """[derivative of a scalar by xi0] world (root link); x, v, q, omega of each link's COM"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpRolloutStep(_RolloutGradient):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, XI_bar: npt.ArrayLike | None = None, *, threads: int = 1, segment: int | None = None) -> VjpRolloutStepResult:
        """Reverse derivative of rollout_step: seeds on the outputs, gradients by every input.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        XI_bar: [derivative of a scalar by XI] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class StepVariationalDirect(Function):
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """One step on the maximal state:

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpStepVariationalDirectResult(NamedTuple):
    xi_bar: FloatArray
    """[derivative of a scalar by xi] world (root link); x, v, q, omega of each link's COM"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpStepVariationalDirect(Function):
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, xi_next_bar: npt.ArrayLike, threads: int = 1) -> VjpStepVariationalDirectResult:
        """Reverse derivative of step_variational_direct: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, xi_next_bar: npt.ArrayLike, *, threads: int = 1) -> VjpStepVariationalDirectResult:
        """Reverse derivative of step_variational_direct: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class RolloutStepVariationalDirect(_Rollout):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """repeated over the columns of U; XI holds the start and every step's end.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpRolloutStepVariationalDirectResult(NamedTuple):
    xi0_bar: FloatArray
    """[derivative of a scalar by xi0] world (root link); x, v, q, omega of each link's COM"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpRolloutStepVariationalDirect(_RolloutGradient):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, XI_bar: npt.ArrayLike | None = None, *, threads: int = 1, segment: int | None = None) -> VjpRolloutStepVariationalDirectResult:
        """Reverse derivative of rollout_step_variational_direct: seeds on the outputs, gradients by every input.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        XI_bar: [derivative of a scalar by XI] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class StepVariationalGaussSeidel(Function):
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """One step on the maximal state:

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpStepVariationalGaussSeidelResult(NamedTuple):
    xi_bar: FloatArray
    """[derivative of a scalar by xi] world (root link); x, v, q, omega of each link's COM"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpStepVariationalGaussSeidel(Function):
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, xi_next_bar: npt.ArrayLike, threads: int = 1) -> VjpStepVariationalGaussSeidelResult:
        """Reverse derivative of step_variational_gauss_seidel: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, xi_next_bar: npt.ArrayLike, *, threads: int = 1) -> VjpStepVariationalGaussSeidelResult:
        """Reverse derivative of step_variational_gauss_seidel: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class RolloutStepVariationalGaussSeidel(_Rollout):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """repeated over the columns of U; XI holds the start and every step's end.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpRolloutStepVariationalGaussSeidelResult(NamedTuple):
    xi0_bar: FloatArray
    """[derivative of a scalar by xi0] world (root link); x, v, q, omega of each link's COM"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpRolloutStepVariationalGaussSeidel(_RolloutGradient):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, XI_bar: npt.ArrayLike | None = None, *, threads: int = 1, segment: int | None = None) -> VjpRolloutStepVariationalGaussSeidelResult:
        """Reverse derivative of rollout_step_variational_gauss_seidel: seeds on the outputs, gradients by every input.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        XI_bar: [derivative of a scalar by XI] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class StepVariationalJacobi(Function):
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """One step on the maximal state:

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpStepVariationalJacobiResult(NamedTuple):
    xi_bar: FloatArray
    """[derivative of a scalar by xi] world (root link); x, v, q, omega of each link's COM"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpStepVariationalJacobi(Function):
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, xi_next_bar: npt.ArrayLike, threads: int = 1) -> VjpStepVariationalJacobiResult:
        """Reverse derivative of step_variational_jacobi: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, xi_next_bar: npt.ArrayLike, *, threads: int = 1) -> VjpStepVariationalJacobiResult:
        """Reverse derivative of step_variational_jacobi: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class RolloutStepVariationalJacobi(_Rollout):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """repeated over the columns of U; XI holds the start and every step's end.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpRolloutStepVariationalJacobiResult(NamedTuple):
    xi0_bar: FloatArray
    """[derivative of a scalar by xi0] world (root link); x, v, q, omega of each link's COM"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpRolloutStepVariationalJacobi(_RolloutGradient):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, XI_bar: npt.ArrayLike | None = None, *, threads: int = 1, segment: int | None = None) -> VjpRolloutStepVariationalJacobiResult:
        """Reverse derivative of rollout_step_variational_jacobi: seeds on the outputs, gradients by every input.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        XI_bar: [derivative of a scalar by XI] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class StepPaperDirect(Function):
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """One step on the maximal state:

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpStepPaperDirectResult(NamedTuple):
    xi_bar: FloatArray
    """[derivative of a scalar by xi] world (root link); x, v, q, omega of each link's COM"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpStepPaperDirect(Function):
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, xi_next_bar: npt.ArrayLike, threads: int = 1) -> VjpStepPaperDirectResult:
        """Reverse derivative of step_paper_direct: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, xi_next_bar: npt.ArrayLike, *, threads: int = 1) -> VjpStepPaperDirectResult:
        """Reverse derivative of step_paper_direct: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class RolloutStepPaperDirect(_Rollout):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """repeated over the columns of U; XI holds the start and every step's end.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpRolloutStepPaperDirectResult(NamedTuple):
    xi0_bar: FloatArray
    """[derivative of a scalar by xi0] world (root link); x, v, q, omega of each link's COM"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpRolloutStepPaperDirect(_RolloutGradient):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, XI_bar: npt.ArrayLike | None = None, *, threads: int = 1, segment: int | None = None) -> VjpRolloutStepPaperDirectResult:
        """Reverse derivative of rollout_step_paper_direct: seeds on the outputs, gradients by every input.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        XI_bar: [derivative of a scalar by XI] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class StepPaperGaussSeidel(Function):
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """One step on the maximal state:

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpStepPaperGaussSeidelResult(NamedTuple):
    xi_bar: FloatArray
    """[derivative of a scalar by xi] world (root link); x, v, q, omega of each link's COM"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpStepPaperGaussSeidel(Function):
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, xi_next_bar: npt.ArrayLike, threads: int = 1) -> VjpStepPaperGaussSeidelResult:
        """Reverse derivative of step_paper_gauss_seidel: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, xi_next_bar: npt.ArrayLike, *, threads: int = 1) -> VjpStepPaperGaussSeidelResult:
        """Reverse derivative of step_paper_gauss_seidel: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class RolloutStepPaperGaussSeidel(_Rollout):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """repeated over the columns of U; XI holds the start and every step's end.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpRolloutStepPaperGaussSeidelResult(NamedTuple):
    xi0_bar: FloatArray
    """[derivative of a scalar by xi0] world (root link); x, v, q, omega of each link's COM"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpRolloutStepPaperGaussSeidel(_RolloutGradient):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, XI_bar: npt.ArrayLike | None = None, *, threads: int = 1, segment: int | None = None) -> VjpRolloutStepPaperGaussSeidelResult:
        """Reverse derivative of rollout_step_paper_gauss_seidel: seeds on the outputs, gradients by every input.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        XI_bar: [derivative of a scalar by XI] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class StepPaperJacobi(Function):
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """One step on the maximal state:

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpStepPaperJacobiResult(NamedTuple):
    xi_bar: FloatArray
    """[derivative of a scalar by xi] world (root link); x, v, q, omega of each link's COM"""
    u_bar: FloatArray
    """[derivative of a scalar by u] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpStepPaperJacobi(Function):
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, xi_next_bar: npt.ArrayLike, threads: int = 1) -> VjpStepPaperJacobiResult:
        """Reverse derivative of step_paper_jacobi: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, xi_next_bar: npt.ArrayLike, *, threads: int = 1) -> VjpStepPaperJacobiResult:
        """Reverse derivative of step_paper_jacobi: seeds on the outputs, gradients by every input.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next_bar: [derivative of a scalar by xi_next] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class RolloutStepPaperJacobi(_Rollout):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """repeated over the columns of U; XI holds the start and every step's end.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpRolloutStepPaperJacobiResult(NamedTuple):
    xi0_bar: FloatArray
    """[derivative of a scalar by xi0] world (root link); x, v, q, omega of each link's COM"""
    U_bar: FloatArray
    """[derivative of a scalar by U] joints, base to tip"""
    h_bar: Number
    """[derivative of a scalar by h]"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpRolloutStepPaperJacobi(_RolloutGradient):
    def __call__(self, xi0: npt.ArrayLike, U: npt.ArrayLike, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, XI_bar: npt.ArrayLike | None = None, *, threads: int = 1, segment: int | None = None) -> VjpRolloutStepPaperJacobiResult:
        """Reverse derivative of rollout_step_paper_jacobi: seeds on the outputs, gradients by every input.

        xi0: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        U: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        XI_bar: [derivative of a scalar by XI] world (root link); x, v, q, omega of each link's COM

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class Constraints(Function):
    def __call__(self, xi: npt.ArrayLike, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Residual rows of every joint.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class MomentumResidual(Function):
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, xi_next: npt.ArrayLike, impulse: npt.ArrayLike, impulse_next: npt.ArrayLike, p_ref: JointValues | None = None, threads: int = 1) -> FloatArray:
        """Momentum balances of a variational step between two maximal states, zero along `step`.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        impulse: [N·s and N·m·s] constraint rows, joint by joint, along the gradients at the start of the step
        impulse_next: [N·s and N·m·s] constraint rows, joint by joint, along the gradients at its end
        p_ref: [rad (m where prismatic)] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, xi: npt.ArrayLike, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, xi_next: npt.ArrayLike, impulse: npt.ArrayLike, impulse_next: npt.ArrayLike, p_ref: JointValues | None = None, *, threads: int = 1) -> FloatArray:
        """Momentum balances of a variational step between two maximal states, zero along `step`.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        xi_next: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        impulse: [N·s and N·m·s] constraint rows, joint by joint, along the gradients at the start of the step
        impulse_next: [N·s and N·m·s] constraint rows, joint by joint, along the gradients at its end
        p_ref: [rad (m where prismatic)] joints, base to tip

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class StateResidual(Function):
    def __call__(self, xi: npt.ArrayLike, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """What makes a maximal state consistent: constraints, unit quaternions, rates of the constraints.

        xi: [m, m/s, 1 (quaternion wxyz), rad/s] world (root link); x, v, q, omega of each link's COM
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class CloseLoops(Function):
    def __call__(self, p: JointValues, fixed: npt.ArrayLike, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Closed pose nearest to p: Gauss-Newton with least change on every row of the loops.

        p: [rad (m where prismatic)] joints, base to tip
        fixed: [1] 1 keeps a coordinate as it is, 0 lets it change
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class CloseRates(Function):
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Rates that the loops allow, nearest to pd in the kinetic energy.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class LoopResidualResult(NamedTuple):
    rows: FloatArray
    """[m or 1] every row of every loop, those that are not solved included; axes of the parent's cut frame"""
    row_rates: FloatArray
    """[m/s or 1/s] as rows"""

class LoopResidual(Function):
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> LoopResidualResult:
        """Every row of the loops, and its rate.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacLoopResidualResult(NamedTuple):
    rows: FloatArray
    """[m or 1] every row of every loop, those that are not solved included; axes of the parent's cut frame"""
    row_rates: FloatArray
    """[m/s or 1/s] as rows"""
    drows_dp: FloatArray
    """[rows per p] rows: output, columns: input (matrices column by column)"""
    drows_dpd: FloatArray
    """[rows per pd] rows: output, columns: input (matrices column by column)"""
    drow_rates_dp: FloatArray
    """[row_rates per p] rows: output, columns: input (matrices column by column)"""
    drow_rates_dpd: FloatArray
    """[row_rates per pd] rows: output, columns: input (matrices column by column)"""

class JacLoopResidual(Function):
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> JacLoopResidualResult:
        """loop_residual and its Jacobian by everything but alpha.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacAlphaLoopResidualResult(NamedTuple):
    drows_dalpha: FloatArray
    """[rows per alpha] rows: output, columns: input (matrices column by column)"""
    drow_rates_dalpha: FloatArray
    """[row_rates per alpha] rows: output, columns: input (matrices column by column)"""

class JacAlphaLoopResidual(Function):
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> JacAlphaLoopResidualResult:
        """Jacobian of loop_residual by alpha.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpLoopResidualResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    pd_bar: FloatArray
    """[derivative of a scalar by pd] joints, base to tip"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpLoopResidual(Function):
    @overload
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None = None, *, rows_bar: npt.ArrayLike, row_rates_bar: npt.ArrayLike, threads: int = 1) -> VjpLoopResidualResult:
        """Reverse derivative of loop_residual: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        rows_bar: [derivative of a scalar by rows] every row of every loop, those that are not solved included; axes
        of the parent's cut frame
        row_rates_bar: [derivative of a scalar by row_rates] as rows

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, pd: JointValues, alpha: Alpha | None, rows_bar: npt.ArrayLike, row_rates_bar: npt.ArrayLike, *, threads: int = 1) -> VjpLoopResidualResult:
        """Reverse derivative of loop_residual: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        rows_bar: [derivative of a scalar by rows] every row of every loop, those that are not solved included; axes
        of the parent's cut frame
        row_rates_bar: [derivative of a scalar by row_rates] as rows

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class LoopForce(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Forces along the kept rows of the loops at an instant.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class ContactGap(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """How far apart what can touch is.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacContactGapResult(NamedTuple):
    gap: FloatArray
    """[m] of every contact, below 0 where bodies overlap"""
    dgap_dp: FloatArray
    """[gap per p] rows: output, columns: input (matrices column by column)"""

class JacContactGap(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> JacContactGapResult:
        """contact_gap and its Jacobian by everything but alpha.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacAlphaContactGap(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Jacobian of contact_gap by alpha.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpContactGapResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpContactGap(Function):
    @overload
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, gap_bar: npt.ArrayLike, threads: int = 1) -> VjpContactGapResult:
        """Reverse derivative of contact_gap: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        gap_bar: [derivative of a scalar by gap] of every contact, below 0 where bodies overlap

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, alpha: Alpha | None, gap_bar: npt.ArrayLike, *, threads: int = 1) -> VjpContactGapResult:
        """Reverse derivative of contact_gap: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        gap_bar: [derivative of a scalar by gap] of every contact, below 0 where bodies overlap

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class ContactJacobian(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Rates of the sphere of every contact against the other, at the point between them, per joint rate.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacContactJacobianResult(NamedTuple):
    contact_rows: FloatArray
    """[m per joint unit] contact by contact: along the normal towards the sphere, then two tangents"""
    dcontact_rows_dp: FloatArray
    """[contact_rows per p] rows: output, columns: input (matrices column by column)"""

class JacContactJacobian(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> JacContactJacobianResult:
        """contact_jacobian and its Jacobian by everything but alpha.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacAlphaContactJacobian(Function):
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Jacobian of contact_jacobian by alpha.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpContactJacobianResult(NamedTuple):
    p_bar: FloatArray
    """[derivative of a scalar by p] joints, base to tip"""
    alpha_bar: FloatArray
    """[derivative of a scalar by alpha]"""

class VjpContactJacobian(Function):
    @overload
    def __call__(self, p: JointValues, alpha: Alpha | None = None, *, contact_rows_bar: npt.ArrayLike, threads: int = 1) -> VjpContactJacobianResult:
        """Reverse derivative of contact_jacobian: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        contact_rows_bar: [derivative of a scalar by contact_rows] contact by contact: along the normal towards the
        sphere, then two tangents

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, alpha: Alpha | None, contact_rows_bar: npt.ArrayLike, *, threads: int = 1) -> VjpContactJacobianResult:
        """Reverse derivative of contact_jacobian: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        contact_rows_bar: [derivative of a scalar by contact_rows] contact by contact: along the normal towards the
        sphere, then two tangents

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class ContactTorque(Function):
    def __call__(self, p: JointValues, contact_force: npt.ArrayLike, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """What forces on the spheres of contacts, at the point between them and the other, do on the joints.

        p: [rad (m where prismatic)] joints, base to tip
        contact_force: [N] world (root link); a column a contact, on its sphere
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class ContactForceResult(NamedTuple):
    contact_force: FloatArray
    """[N] world (root link); a column a contact, on its sphere"""
    iterations: FloatArray
    """[1] of pose and rate stage, then 1 where slip was followed down in either"""

class ContactForce(Function):
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> ContactForceResult:
        """Mean forces of contacts over the joint_step from a state, and the iterations that it takes.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class ContactResidualResult(NamedTuple):
    pose_residual: FloatArray
    """[kg·m^2 (kg·m), m or 1, N·s] momenta times h, rows of loops, of limits, contacts as contact_impulse"""
    rate_residual: FloatArray
    """[kg·m^2 (kg·m), m/s or 1/s, N·s] momenta times h, rates of loops, rows of limits, contacts as contact_impulse"""

class ContactResidual(Function):
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, p_next: JointValues, pd_next: JointValues, loop_impulse: npt.ArrayLike | None = None, loop_impulse_next: npt.ArrayLike | None = None, limit_impulse: npt.ArrayLike | None = None, limit_impulse_next: npt.ArrayLike | None = None, contact_impulse: npt.ArrayLike, contact_impulse_next: npt.ArrayLike, threads: int = 1) -> ContactResidualResult:
        """Equations of a step in contact, zero along joint_step: for transcriptions.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_next: [rad (m where prismatic)] joints, base to tip
        pd_next: [rad/s (m/s where prismatic)] joints, base to tip
        loop_impulse: [N·s or N·m·s] kept rows of every loop; axes of the parent's cut frame at the start
        loop_impulse_next: [N·s or N·m·s] the same of the rate stage, at the end
        limit_impulse: [N·m·s (N·s)] of joints' limits, the lower before the upper; of the pose stage
        limit_impulse_next: [N·m·s (N·s)] as limit_impulse, of the rate stage
        contact_impulse: [N·s] contact by contact: the normal one, then along two tangents; the normal one alone
        without friction; last those of torsional and of rolling friction, over their coefficients
        contact_impulse_next: [N·s] of the rate stage; contact by contact: the normal one, then along two tangents;
        the normal one alone without friction; last those of torsional and of rolling friction, over their
        coefficients

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, pd: JointValues, u: JointValues, h: npt.ArrayLike | None, alpha: Alpha | None, p_next: JointValues, pd_next: JointValues, loop_impulse: npt.ArrayLike | None, loop_impulse_next: npt.ArrayLike | None, limit_impulse: npt.ArrayLike | None, limit_impulse_next: npt.ArrayLike | None, contact_impulse: npt.ArrayLike, contact_impulse_next: npt.ArrayLike, *, threads: int = 1) -> ContactResidualResult:
        """Equations of a step in contact, zero along joint_step: for transcriptions.

        p: [rad (m where prismatic)] joints, base to tip
        pd: [rad/s (m/s where prismatic)] joints, base to tip
        u: [N·m (N where prismatic)] joints, base to tip
        h: [s]
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        p_next: [rad (m where prismatic)] joints, base to tip
        pd_next: [rad/s (m/s where prismatic)] joints, base to tip
        loop_impulse: [N·s or N·m·s] kept rows of every loop; axes of the parent's cut frame at the start
        loop_impulse_next: [N·s or N·m·s] the same of the rate stage, at the end
        limit_impulse: [N·m·s (N·s)] of joints' limits, the lower before the upper; of the pose stage
        limit_impulse_next: [N·m·s (N·s)] as limit_impulse, of the rate stage
        contact_impulse: [N·s] contact by contact: the normal one, then along two tangents; the normal one alone
        without friction; last those of torsional and of rolling friction, over their coefficients
        contact_impulse_next: [N·s] of the rate stage; contact by contact: the normal one, then along two tangents;
        the normal one alone without friction; last those of torsional and of rolling friction, over their
        coefficients

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class Clearance(Function):
    def __call__(self, p: JointValues, spheres: npt.ArrayLike | None = None, capsules: npt.ArrayLike | None = None, boxes: npt.ArrayLike | None = None, planes: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> FloatArray:
        """Signed distances of links from each other and from obstacles.

        p: [rad (m where prismatic)] joints, base to tip
        spheres: [m] world (root link); a column each: centre, radius
        capsules: [m] world (root link); a column each: both ends of the axis, radius
        boxes: [m, 1 (quaternion wxyz)] world (root link); a column each: centre, quaternion, lengths of the sides
        planes: [1, m] world (root link); a column each: normal away from the solid, height along it
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class VjpClearanceResult(tuple[FloatArray, ...]):
    """The array alone, or with more than one output a named tuple of them; which those are depends on the robot."""

    @property
    def p_bar(self) -> FloatArray:
        """[derivative of a scalar by p] joints, base to tip"""
    @property
    def spheres_bar(self) -> FloatArray:
        """[derivative of a scalar by spheres] world (root link); a column each: centre, radius"""
    @property
    def capsules_bar(self) -> FloatArray:
        """[derivative of a scalar by capsules] world (root link); a column each: both ends of the axis, radius"""
    @property
    def boxes_bar(self) -> FloatArray:
        """[derivative of a scalar by boxes] world (root link); a column each: centre, quaternion, lengths of the sides"""
    @property
    def planes_bar(self) -> FloatArray:
        """[derivative of a scalar by planes] world (root link); a column each: normal away from the solid, height along
        it
        """
    @property
    def alpha_bar(self) -> FloatArray:
        """[derivative of a scalar by alpha]"""

class VjpClearance(Function):
    @overload
    def __call__(self, p: JointValues, spheres: npt.ArrayLike | None = None, capsules: npt.ArrayLike | None = None, boxes: npt.ArrayLike | None = None, planes: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, distance_bar: npt.ArrayLike, threads: int = 1) -> VjpClearanceResult:
        """Reverse derivative of clearance: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        spheres: [m] world (root link); a column each: centre, radius
        capsules: [m] world (root link); a column each: both ends of the axis, radius
        boxes: [m, 1 (quaternion wxyz)] world (root link); a column each: centre, quaternion, lengths of the sides
        planes: [1, m] world (root link); a column each: normal away from the solid, height along it
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        distance_bar: [derivative of a scalar by distance] pair by pair, then obstacle by obstacle to every shape that
        moves; below 0 where bodies overlap

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """
    @overload
    def __call__(self, p: JointValues, spheres: npt.ArrayLike | None, capsules: npt.ArrayLike | None, boxes: npt.ArrayLike | None, planes: npt.ArrayLike | None, alpha: Alpha | None, distance_bar: npt.ArrayLike, *, threads: int = 1) -> VjpClearanceResult:
        """Reverse derivative of clearance: seeds on the outputs, gradients by every input.

        p: [rad (m where prismatic)] joints, base to tip
        spheres: [m] world (root link); a column each: centre, radius
        capsules: [m] world (root link); a column each: both ends of the axis, radius
        boxes: [m, 1 (quaternion wxyz)] world (root link); a column each: centre, quaternion, lengths of the sides
        planes: [1, m] world (root link); a column each: normal away from the solid, height along it
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults
        distance_bar: [derivative of a scalar by distance] pair by pair, then obstacle by obstacle to every shape that
        moves; below 0 where bodies overlap

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class ClearancePointsResult(NamedTuple):
    distance: FloatArray
    """[m] pair by pair, then obstacle by obstacle to every shape that moves; below 0 where bodies overlap"""
    point: FloatArray
    """[m] world (root link); a column a distance: nearest point of the first body"""
    other_point: FloatArray
    """[m] world (root link); the same of the other one"""
    normal: FloatArray
    """[1] world (root link); a column a distance: from the other body to the first, 0 where cores cross"""

class ClearancePoints(Function):
    def __call__(self, p: JointValues, spheres: npt.ArrayLike | None = None, capsules: npt.ArrayLike | None = None, boxes: npt.ArrayLike | None = None, planes: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> ClearancePointsResult:
        """clearance with the nearest points on both bodies and the normals there.

        p: [rad (m where prismatic)] joints, base to tip
        spheres: [m] world (root link); a column each: centre, radius
        capsules: [m] world (root link); a column each: both ends of the axis, radius
        boxes: [m, 1 (quaternion wxyz)] world (root link); a column each: centre, quaternion, lengths of the sides
        planes: [1, m] world (root link); a column each: normal away from the solid, height along it
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class JacClearanceResult(NamedTuple):
    distance: FloatArray
    """[m] pair by pair, then obstacle by obstacle to every shape that moves; below 0 where bodies overlap"""
    ddistance_dp: FloatArray
    """[distance per p] rows: output, columns: input (matrices column by column)"""

class JacClearance(Function):
    def __call__(self, p: JointValues, spheres: npt.ArrayLike | None = None, capsules: npt.ArrayLike | None = None, boxes: npt.ArrayLike | None = None, planes: npt.ArrayLike | None = None, alpha: Alpha | None = None, *, threads: int = 1) -> JacClearanceResult:
        """clearance and its Jacobian by p.

        p: [rad (m where prismatic)] joints, base to tip
        spheres: [m] world (root link); a column each: centre, radius
        capsules: [m] world (root link); a column each: both ends of the axis, radius
        boxes: [m, 1 (quaternion wxyz)] world (root link); a column each: centre, quaternion, lengths of the sides
        planes: [1, m] world (root link); a column each: normal away from the solid, height along it
        alpha: a vector in the order of robot.alpha, or values by name; default robot.alpha.defaults

        One more axis in front of an argument makes a batch; `threads` splits its rows.
        """

class RobotFunctions:
    """The attributes of a robot."""

    inverse_dynamics: InverseDynamics
    """Torque that a joint sensor reads: rigid body, rotors, friction, springs, sensor offset."""

    jac_inverse_dynamics: JacInverseDynamics
    """inverse_dynamics and its Jacobian by everything but alpha."""

    jac_alpha_inverse_dynamics: JacAlphaInverseDynamics
    """Jacobian of inverse_dynamics by alpha."""

    vjp_inverse_dynamics: VjpInverseDynamics
    """Reverse derivative of inverse_dynamics: seeds on the outputs, gradients by every input."""

    forward_dynamics: ForwardDynamics
    """Joint acceleration under the true torque u."""

    jac_forward_dynamics: JacForwardDynamics
    """forward_dynamics and its Jacobian by everything but alpha."""

    jac_alpha_forward_dynamics: JacAlphaForwardDynamics
    """Jacobian of forward_dynamics by alpha."""

    vjp_forward_dynamics: VjpForwardDynamics
    """Reverse derivative of forward_dynamics: seeds on the outputs, gradients by every input."""

    mass_matrix: MassMatrix
    """Joint-space inertia, rotors included."""

    gravity: Gravity
    """Torque that holds the arm against gravity at rest, payload included."""

    jac_gravity: JacGravity
    """gravity and its Jacobian by everything but alpha."""

    jac_alpha_gravity: JacAlphaGravity
    """Jacobian of gravity by alpha."""

    vjp_gravity: VjpGravity
    """Reverse derivative of gravity: seeds on the outputs, gradients by every input."""

    coriolis: Coriolis
    """Velocity-product torque C(p, pd) pd."""

    energy: Energy
    """Kinetic energy (rotors included); potential energy of gravity and joint springs, zero at the world origin."""

    tip_pose: TipPose
    """Position and rotation of the tip frame."""

    jac_tip_pose: JacTipPose
    """tip_pose and its Jacobian by everything but alpha."""

    jac_alpha_tip_pose: JacAlphaTipPose
    """Jacobian of tip_pose by alpha."""

    vjp_tip_pose: VjpTipPose
    """Reverse derivative of tip_pose: seeds on the outputs, gradients by every input."""

    tip_jacobian: TipJacobian
    """Geometric Jacobian of the tip frame."""

    frame_pose: FramePose
    """Position and rotation of a frame, by default the tip's."""

    frame_jacobian: FrameJacobian
    """Velocity of a frame, linear then angular, per joint rate."""

    frame_velocity: FrameVelocity
    """Velocity of a frame, linear then angular."""

    frame_acceleration: FrameAcceleration
    """Acceleration of a frame, linear then angular: spatial, and classical, that of the point."""

    ik: Ik
    """Inverse kinematics: the position of the first start that brings a frame to a goal within the joint limits."""

    regressor: Regressor
    """Rigid-body torque per inertial parameter of each link: u = Y theta, payload left out."""

    spring_torque: SpringTorque
    """Torque of the joint springs."""

    friction_torque: FrictionTorque
    """Torque of joint friction, viscous plus smoothed Coulomb."""

    deflection_next: DeflectionNext
    """Deflection of every joint's friction with memory at the end of a joint_step, by the rates there."""

    jac_deflection_next: JacDeflectionNext
    """deflection_next and its Jacobian by everything but alpha."""

    jac_alpha_deflection_next: JacAlphaDeflectionNext
    """Jacobian of deflection_next by alpha."""

    vjp_deflection_next: VjpDeflectionNext
    """Reverse derivative of deflection_next: seeds on the outputs, gradients by every input."""

    lever_spring_torque: LeverSpringTorque
    """Torque of a straight spring between two lever arms about a joint."""

    torque_terms: TorqueTerms
    """What inverse_dynamics is linear in: inverse_dynamics = terms phi."""

    torque_coefficients: TorqueCoefficients
    """Coefficients of torque_terms: inertial parameters, friction, rotors, offsets, springs."""

    joint_step: JointStep
    """One second-order symplectic step on joint coordinates."""

    jac_joint_step: JacJointStep
    """joint_step and its Jacobian by p, pd and u."""

    jac_alpha_joint_step: JacAlphaJointStep
    """Jacobian of joint_step by alpha."""

    vjp_joint_step: VjpJointStep
    """Reverse derivative of joint_step."""

    jac_kicked_step: JacKickedStep
    """joint_step with a known impulse on the joints at its end, and its Jacobian by p, pd and u."""

    fourth_order_step: FourthOrderStep
    """Five joint_steps, the third backwards in time, by Suzuki's composition; no friction."""

    jac_fourth_order_step: JacFourthOrderStep
    """fourth_order_step and its Jacobian by everything but alpha."""

    vjp_fourth_order_step: VjpFourthOrderStep
    """Reverse derivative of fourth_order_step: seeds on the outputs, gradients by every input."""

    fourth_order_rollout: FourthOrderRollout
    """fourth_order_step repeated over the columns of U; P and PD hold the start and every step's end."""

    vjp_fourth_order_rollout: VjpFourthOrderRollout
    """Reverse derivative of fourth_order_rollout: seeds on the outputs, gradients by every input."""

    sixth_order_step: SixthOrderStep
    """joint_steps over h, h/2 and h/3, extrapolated to sixth order; no friction."""

    jac_sixth_order_step: JacSixthOrderStep
    """sixth_order_step and its Jacobian by everything but alpha."""

    vjp_sixth_order_step: VjpSixthOrderStep
    """Reverse derivative of sixth_order_step: seeds on the outputs, gradients by every input."""

    sixth_order_rollout: SixthOrderRollout
    """sixth_order_step repeated over the columns of U; P and PD hold the start and every step's end."""

    vjp_sixth_order_rollout: VjpSixthOrderRollout
    """Reverse derivative of sixth_order_rollout: seeds on the outputs, gradients by every input."""

    node_torque: NodeTorque
    """Torque from three poses: the discrete Euler-Lagrange equation at the middle one, sensor offset included."""

    rollout: Rollout
    """joint_step repeated over the columns of U; P and PD hold the start and every step's end."""

    vjp_rollout: VjpRollout
    """Reverse derivative of rollout; with h_bar and alpha_bar both NULL those two are left out and cost nothing."""

    vjp_trajectory: VjpTrajectory
    """Reverse derivative of rollout along a trajectory P, PD that it gave; otherwise as vjp_rollout."""

    rollout_impulses: RolloutImpulses
    """rollout with what it took: iterations, and the impulses of loops, limits and contacts in every step."""

    estimate_torque: EstimateTorque
    """Torques of a window of joint_steps that come closest to recorded positions and angular velocities (Gauss-
    Newton from U_start); what no term of the loss depends on stays as it was.
    """

    mpc: Mpc
    """Plan of N torques along a reference, bounded: sequential quadratic programs over joint_step."""

    damped_hold: DampedHold
    """Torque of the motors, within bounds, that holds a pose and damps its motion, stable in sampled control."""

    fk: Fk
    """Maximal state of every link from joint positions and rates."""

    vjp_fk: VjpFk
    """Reverse derivative of fk: seeds on the outputs, gradients by every input."""

    joint_state: JointState
    """Joint positions and rates from the maximal state; p is unwrapped to within half a turn of p_ref."""

    vjp_joint_state: VjpJointState
    """Reverse derivative of joint_state: seeds on the outputs, gradients by every input."""

    step: Step
    """One step on the maximal state:"""

    vjp_step: VjpStep
    """Reverse derivative of step: seeds on the outputs, gradients by every input."""

    rollout_step: RolloutStep
    """repeated over the columns of U; XI holds the start and every step's end."""

    vjp_rollout_step: VjpRolloutStep
    """Reverse derivative of rollout_step: seeds on the outputs, gradients by every input."""

    step_variational_direct: StepVariationalDirect
    """One step on the maximal state:"""

    vjp_step_variational_direct: VjpStepVariationalDirect
    """Reverse derivative of step_variational_direct: seeds on the outputs, gradients by every input."""

    rollout_step_variational_direct: RolloutStepVariationalDirect
    """repeated over the columns of U; XI holds the start and every step's end."""

    vjp_rollout_step_variational_direct: VjpRolloutStepVariationalDirect
    """Reverse derivative of rollout_step_variational_direct: seeds on the outputs, gradients by every input."""

    step_variational_gauss_seidel: StepVariationalGaussSeidel
    """One step on the maximal state:"""

    vjp_step_variational_gauss_seidel: VjpStepVariationalGaussSeidel
    """Reverse derivative of step_variational_gauss_seidel: seeds on the outputs, gradients by every input."""

    rollout_step_variational_gauss_seidel: RolloutStepVariationalGaussSeidel
    """repeated over the columns of U; XI holds the start and every step's end."""

    vjp_rollout_step_variational_gauss_seidel: VjpRolloutStepVariationalGaussSeidel
    """Reverse derivative of rollout_step_variational_gauss_seidel: seeds on the outputs, gradients by every input."""

    step_variational_jacobi: StepVariationalJacobi
    """One step on the maximal state:"""

    vjp_step_variational_jacobi: VjpStepVariationalJacobi
    """Reverse derivative of step_variational_jacobi: seeds on the outputs, gradients by every input."""

    rollout_step_variational_jacobi: RolloutStepVariationalJacobi
    """repeated over the columns of U; XI holds the start and every step's end."""

    vjp_rollout_step_variational_jacobi: VjpRolloutStepVariationalJacobi
    """Reverse derivative of rollout_step_variational_jacobi: seeds on the outputs, gradients by every input."""

    step_paper_direct: StepPaperDirect
    """One step on the maximal state:"""

    vjp_step_paper_direct: VjpStepPaperDirect
    """Reverse derivative of step_paper_direct: seeds on the outputs, gradients by every input."""

    rollout_step_paper_direct: RolloutStepPaperDirect
    """repeated over the columns of U; XI holds the start and every step's end."""

    vjp_rollout_step_paper_direct: VjpRolloutStepPaperDirect
    """Reverse derivative of rollout_step_paper_direct: seeds on the outputs, gradients by every input."""

    step_paper_gauss_seidel: StepPaperGaussSeidel
    """One step on the maximal state:"""

    vjp_step_paper_gauss_seidel: VjpStepPaperGaussSeidel
    """Reverse derivative of step_paper_gauss_seidel: seeds on the outputs, gradients by every input."""

    rollout_step_paper_gauss_seidel: RolloutStepPaperGaussSeidel
    """repeated over the columns of U; XI holds the start and every step's end."""

    vjp_rollout_step_paper_gauss_seidel: VjpRolloutStepPaperGaussSeidel
    """Reverse derivative of rollout_step_paper_gauss_seidel: seeds on the outputs, gradients by every input."""

    step_paper_jacobi: StepPaperJacobi
    """One step on the maximal state:"""

    vjp_step_paper_jacobi: VjpStepPaperJacobi
    """Reverse derivative of step_paper_jacobi: seeds on the outputs, gradients by every input."""

    rollout_step_paper_jacobi: RolloutStepPaperJacobi
    """repeated over the columns of U; XI holds the start and every step's end."""

    vjp_rollout_step_paper_jacobi: VjpRolloutStepPaperJacobi
    """Reverse derivative of rollout_step_paper_jacobi: seeds on the outputs, gradients by every input."""

    constraints: Constraints
    """Residual rows of every joint."""

    momentum_residual: MomentumResidual
    """Momentum balances of a variational step between two maximal states, zero along `step`."""

    state_residual: StateResidual
    """What makes a maximal state consistent: constraints, unit quaternions, rates of the constraints."""

    close_loops: CloseLoops
    """Closed pose nearest to p: Gauss-Newton with least change on every row of the loops."""

    close_rates: CloseRates
    """Rates that the loops allow, nearest to pd in the kinetic energy."""

    loop_residual: LoopResidual
    """Every row of the loops, and its rate."""

    jac_loop_residual: JacLoopResidual
    """loop_residual and its Jacobian by everything but alpha."""

    jac_alpha_loop_residual: JacAlphaLoopResidual
    """Jacobian of loop_residual by alpha."""

    vjp_loop_residual: VjpLoopResidual
    """Reverse derivative of loop_residual: seeds on the outputs, gradients by every input."""

    loop_force: LoopForce
    """Forces along the kept rows of the loops at an instant."""

    contact_gap: ContactGap
    """How far apart what can touch is."""

    jac_contact_gap: JacContactGap
    """contact_gap and its Jacobian by everything but alpha."""

    jac_alpha_contact_gap: JacAlphaContactGap
    """Jacobian of contact_gap by alpha."""

    vjp_contact_gap: VjpContactGap
    """Reverse derivative of contact_gap: seeds on the outputs, gradients by every input."""

    contact_jacobian: ContactJacobian
    """Rates of the sphere of every contact against the other, at the point between them, per joint rate."""

    jac_contact_jacobian: JacContactJacobian
    """contact_jacobian and its Jacobian by everything but alpha."""

    jac_alpha_contact_jacobian: JacAlphaContactJacobian
    """Jacobian of contact_jacobian by alpha."""

    vjp_contact_jacobian: VjpContactJacobian
    """Reverse derivative of contact_jacobian: seeds on the outputs, gradients by every input."""

    contact_torque: ContactTorque
    """What forces on the spheres of contacts, at the point between them and the other, do on the joints."""

    contact_force: ContactForce
    """Mean forces of contacts over the joint_step from a state, and the iterations that it takes."""

    contact_residual: ContactResidual
    """Equations of a step in contact, zero along joint_step: for transcriptions."""

    clearance: Clearance
    """Signed distances of links from each other and from obstacles."""

    vjp_clearance: VjpClearance
    """Reverse derivative of clearance: seeds on the outputs, gradients by every input."""

    clearance_points: ClearancePoints
    """clearance with the nearest points on both bodies and the normals there."""

    jac_clearance: JacClearance
    """clearance and its Jacobian by p."""
