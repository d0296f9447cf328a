// gives: [true, false, false]
// since: 2026
class Own extends TypeError {}
;[Error.isError(new Own()), Error.isError({ name: 'Error', message: '' }), Error.isError(Object.create(Error.prototype))]
