/** `rxjs/operators` out of the one file that specs have of rxjs, instead of another hundred files. */
module.exports = require('rxjs').operators;
