/** Deliveries of forges: signatures, repetitions, a server. */
export { type WebhookAnswer, WebhookIntake, WebhookReading } from './webhook/webhook-intake.ts'
export { remotesOf, repositoryName } from './webhook/webhook-routes.ts'
export { startWebhookServer } from './webhook/webhook-server.ts'
export type { WebhookHeaders } from './webhook/webhook-signature.ts'
export { DeliveryWindow } from './webhook/webhook-window.ts'
