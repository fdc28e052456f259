import * as z from 'zod'
import { json } from './document.ts'
import { refSchema, rolledBackSchema } from './rollout.ts'

export const actorSchema = z.object({
  manager: z
    .string()
    .describe(
      'Field manager: the name that the client gave itself; `unknown` if the server did not record it.',
    ),
  operation: z.enum(['Apply', 'Update', '']).describe('How the manager wrote.'),
  subresource: z.string().optional(),
  class: z.enum(['human-tool', 'controller', 'gitops', 'webhook', 'unknown']),
  at: z
    .string()
    .describe(
      "RFC 3339 UTC. The manager's last change to any of its fields of the object; empty when unknown.",
    ),
  confidence: z
    .enum(['audit', 'audit-time', 'field-manager', 'last-writer', 'none'])
    .describe(
      'audit: the audit log has the request itself; audit-time: owns the field, and the audit log has one user that wrote under this name at that time; field-manager: owns the field; last-writer: the field is gone and this is the only other writer; none: no trace.',
    ),
  user: z
    .string()
    .optional()
    .describe('User as the API server authenticated it; only from an audit log.'),
  actingAs: z.string().optional().describe('User that was impersonated.'),
  others: z
    .array(
      z.object({
        manager: z.string(),
        operation: z.enum(['Apply', 'Update']),
        subresource: z.string().optional(),
        class: z.enum(['human-tool', 'controller', 'gitops', 'webhook', 'unknown']),
        at: z.string(),
      }),
    )
    .optional()
    .describe('Other owners of the field, latest first.'),
})

export const resolutionSchema = z.enum(['Restore', 'Adopt', 'Release'])

export const riskSchema = z.enum(['critical', 'high', 'medium', 'low'])

const changeSchema = z.object({
  ref: refSchema,
  change: z.enum(['modified', 'removed', 'added', 'missing', 'unexpected']),
  path: z
    .string()
    .optional()
    .describe(
      'Keyed field path; absent for missing and unexpected. A credential in it is written as `hmac-sha256:<16 hex>`.',
    ),
  git: json
    .optional()
    .describe(
      'Value in git; absent if git has none. A hidden value is `hmac-sha256:<16 hex> (<n> bytes)`.',
    ),
  live: json.optional().describe('Value in the cluster; absent if the cluster has none.'),
  redacted: z
    .boolean()
    .optional()
    .describe('True when git or live is a keyed hash instead of the value.'),
  actor: actorSchema,
  rolledBack: rolledBackSchema.optional(),
  risk: riskSchema,
  reason: z.string().describe('Code of the rule that gave the risk.'),
  resolution: resolutionSchema,
  via: z
    .string()
    .optional()
    .describe('Location in git to edit, which a person chose among several: `setter:replicas`.'),
  source: z.string().optional().describe('`path:line` of the object in git.'),
  notes: z.array(z.string()).optional(),
  fingerprint: z.string().describe('Keyed hash of this difference: 16 hex digits.'),
})

const unitSchema = z.object({
  cluster: z.string(),
  package: z
    .string()
    .describe(
      'Path of the package from the root of the repository; empty if the repository itself is the package.',
    ),
  name: z.string().optional().describe('For a package without a path: the name in its Kptfile.'),
  source: z.literal('folder').optional().describe('Present for a folder without a Kptfile.'),
  appliedBy: z
    .string()
    .optional()
    .describe(
      'Syncer resource that applies the folder and from which the unit was discovered: `Flux Kustomization flux-system/apps`.',
    ),
  branch: z
    .string()
    .optional()
    .describe(
      'Base branch that was compared, short: `main`. Proposals and decisions of the unit apply to it.',
    ),
  revision: z.string().optional().describe('Latest published revision of the package, as in `v3`.'),
  commit: z
    .string()
    .describe(
      'Commit of the base branch that was compared: the first one in which the package had this content.',
    ),
  tree: z
    .string()
    .describe(
      'Hash of the content of the package, 16 hex digits: two commits with the same hash have the same package.',
    ),
})

const observedSchema = z.object({
  at: z.string().describe('RFC 3339 UTC: first observation that found what this document says.'),
  seenAt: z
    .string()
    .optional()
    .describe(
      'RFC 3339 UTC: a later observation that found the same. Lists have the latest known one; if absent, it is `at`.',
    ),
  syncer: z.string().describe('Field manager that applies the package; empty if none does.'),
  objects: z.int().describe('Objects that git declares.'),
  recorded: z.boolean().optional().describe('True when the cluster was a recording.'),
})

export const changesPart = {
  unit: unitSchema,
  fingerprint: z.string().describe('`sha256:` and 64 hex digits; empty when nothing differs.'),
  observed: observedSchema,
  changes: z.array(changeSchema),
}

export const proposedAtSchema = z
  .string()
  .optional()
  .describe(
    'RFC 3339 UTC: observation with which it was proposed; absent if that was the first one, and in a draft.',
  )

export type Change = z.infer<typeof changeSchema>
