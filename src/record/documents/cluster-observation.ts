/** `clusters/<name>/observation.yaml` (docs/adr/0056-what-the-ledger-says-about-time.md). */
import { isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { z } from 'zod'
import { API_VERSION, annotationsSchema } from './document.ts'

export const clusterFailureSchema = z
  .object({
    since: z.string().describe('RFC 3339 UTC: first failed observation.'),
    code: z.string(),
    why: z.string().describe('Description of the code, without any answer of the cluster.'),
    remedy: z.string(),
  })
  .describe('Why the cluster cannot be observed; absent while it can.')

const statusShape = {
  changedAt: z
    .string()
    .describe('RFC 3339 UTC of the last observation that changed anything in the ledger.'),
  version: z.string().describe('Version of the API server; empty when unknown.'),
  identity: z
    .string()
    .describe(
      'Hash of the cluster uid, 16 hex digits: another value means another cluster behind the name.',
    ),
  recorded: z.boolean().optional(),
  observedAt: z
    .string()
    .optional()
    .describe(
      'RFC 3339 UTC of the last successful observation of every package of the cluster; absent if there was none. It is coarse: while nothing changes it is updated once per interval of the policy (detect.interval).',
    ),
  reachable: z.boolean().describe('False while the cluster cannot be observed.'),
  failure: clusterFailureSchema.optional(),
  policy: z
    .object({
      commit: z.string().describe('Commit of the base branch whose policy is in use.'),
      where: z
        .string()
        .describe('File and line of the first problem of the policy of the base commit.'),
      why: z.string(),
    })
    .optional()
    .describe('Present if the policy of the base commit cannot be used.'),
}

/** Keeps fields of later versions. */
const observationSchema = z.looseObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('ClusterObservation'),
  metadata: z.object({ name: z.string(), annotations: annotationsSchema }),
  status: z.looseObject(statusShape),
})

export type ClusterStatus = z.infer<z.ZodObject<typeof statusShape>>
export type ClusterObservation = Pick<
  z.infer<typeof observationSchema>,
  'apiVersion' | 'kind' | 'metadata'
> & {
  readonly status: ClusterStatus
}

/**
 * Earlier versions wrote `seenAt` for `observedAt`, and `unobserved` for `reachable` and `failure`.
 */
export const clusterObservationSchema: z.ZodType<ClusterObservation> = z.preprocess(
  (value) => (isJsonObject(value as Json) ? renameToPresent(value as JsonObject) : value),
  observationSchema,
)

export function selectUnknownFields(before: ClusterStatus | undefined): object {
  return Object.fromEntries(
    Object.entries(before ?? {}).filter(([name]) => !Object.hasOwn(statusShape, name)),
  )
}

function renameToPresent(document: JsonObject): JsonObject {
  const { status } = document
  if (status === undefined || !isJsonObject(status)) return document
  const { seenAt, unobserved, ...rest } = status
  return {
    ...document,
    status: {
      ...rest,
      ...(seenAt === undefined || rest['observedAt'] !== undefined ? {} : { observedAt: seenAt }),
      ...(rest['reachable'] === undefined ? { reachable: unobserved === undefined } : {}),
      ...(unobserved === undefined || rest['failure'] !== undefined ? {} : { failure: unobserved }),
    },
  }
}
