(function (taken) { 'use strict'; return { __proto__: null }; })
