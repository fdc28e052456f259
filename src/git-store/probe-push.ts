export { probePush } from './push/probe-push.ts'
