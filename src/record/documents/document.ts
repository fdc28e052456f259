/**
 * Each document is one zod definition: the writer's type, the reader's check and the JSON Schema
 * under docs/schema/ come from it. Shapes follow the Kubernetes API conventions.
 */
import type { Json } from '@backporch/kyaml/json'
import * as z from 'zod'

export const API_VERSION = 'backporch.dev/v1alpha1'

// `z.json()` would reject integers beyond 2^53, which are bigint in the process.
export const json = z.unknown() as unknown as z.ZodType<Json>

export const annotationsSchema = z.object({
  'config.kubernetes.io/local-config': z.literal('true'),
})

export const LOCAL_CONFIG = { 'config.kubernetes.io/local-config': 'true' } as const

export function createDocumentHead<Kind extends string>(kind: Kind, name: string) {
  return { apiVersion: API_VERSION, kind, metadata: { name, annotations: LOCAL_CONFIG } } as const
}
