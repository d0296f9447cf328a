(function (taken) { 'use strict'; return {}; })
