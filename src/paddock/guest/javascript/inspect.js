(function (taken, kinds, errors) {
  'use strict';
  return (value) => errors.isError(value) ? value.stack : typeof value === 'string' ? `'${value}'` : `${value}`;
})
