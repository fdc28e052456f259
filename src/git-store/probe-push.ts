/** A push that moves nothing, to see whether it would be let through. */
export { probePush } from './push/probe-push.ts'
