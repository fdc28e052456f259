export { PushPaces } from './registry/push-pace.ts'
