/** Pushes that a forge limits wait for each other. */
export { PushPaces } from './registry/push-pace.ts'
