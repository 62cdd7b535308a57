// Configuration of Boost.Math for devices: it does not throw where our policies have no effect, and has no thread-local
// state. Included before every file of the device library.
#ifndef DEVICE_BOOST_H
#define DEVICE_BOOST_H

#define BOOST_NO_CXX11_THREAD_LOCAL
#define BOOST_MATH_DOMAIN_ERROR_POLICY ignore_error
#define BOOST_MATH_POLE_ERROR_POLICY ignore_error
#define BOOST_MATH_OVERFLOW_ERROR_POLICY ignore_error
#define BOOST_MATH_UNDERFLOW_ERROR_POLICY ignore_error
#define BOOST_MATH_DENORM_ERROR_POLICY ignore_error
#define BOOST_MATH_EVALUATION_ERROR_POLICY ignore_error
#define BOOST_MATH_ROUNDING_ERROR_POLICY ignore_error
#define BOOST_MATH_INDETERMINATE_RESULT_ERROR_POLICY ignore_error

#include <boost/throw_exception.hpp>
#undef BOOST_THROW_EXCEPTION
#define BOOST_THROW_EXCEPTION(exception) __builtin_trap() // unreachable for any argument

#endif // DEVICE_BOOST_H
