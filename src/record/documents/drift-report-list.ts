import * as z from 'zod'
import { clusterFailureSchema } from './cluster-observation.ts'
import { API_VERSION } from './document.ts'
import { driftReportSchema, incompleteSchema } from './drift-report.ts'
import { refSchema } from './rollout.ts'

const notesSchema = z
  .array(
    z.object({
      cause: z.string().describe('Name of the cause: `secret-in-git`, `porch-tag-not-number`, …'),
      count: z.number().int().positive(),
      examples: z
        .array(z.object({ subject: z.string(), text: z.string() }))
        .describe(
          'The first notes; all of them with --verbose. `subject` is the subject of a note, empty if the text names it.',
        ),
    }),
  )
  .optional()
  .describe('Notes: neither drift nor failures, one entry for each cause.')

export const driftReportListSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('DriftReportList'),
  observedAt: z
    .string()
    .describe(
      'RFC 3339 UTC: every item was observed at this time or later; for an item that cannot be observed, its last successful observation counts. Empty if nothing was ever observed.',
    ),
  incomplete: z
    .array(incompleteSchema)
    .describe('What could not be observed. Absence of drift is not proven if this is not empty.'),
  items: z.array(driftReportSchema),
  notes: notesSchema,
  clusters: z
    .array(
      z.object({
        name: z.string(),
        observedAt: z
          .string()
          .optional()
          .describe(
            'RFC 3339 UTC of the last successful observation of every package; absent if the ledger has none.',
          ),
        reachable: z.boolean().describe('False while the cluster cannot be observed.'),
        failure: clusterFailureSchema.optional(),
      }),
    )
    .optional()
    .describe('For `status`: the clusters of the items, as the ledger has them.'),
  proposals: z
    .array(z.object({ branch: z.string(), label: z.string(), url: z.string() }))
    .optional()
    .describe(
      'Open proposals that a scan made or kept: label as on the forge (`#418`), url empty if there is no forge.',
    ),
  wouldWrite: z
    .array(z.string())
    .optional()
    .describe('For a dry run: every write that a real run would do, in order.'),
  actions: z
    .array(z.looseObject({ kind: z.string() }))
    .optional()
    .describe(
      'For a dry run: the whole plan, in order. Hidden values are hashes; `hidden` marks a file whose content is not shown.',
    ),
  unmanaged: z
    .array(
      z.object({
        cluster: z.string(),
        namespaces: z.array(z.string()).describe('Searched namespaces: those of the packages.'),
        objects: z.array(
          z.object({
            apiVersion: z.string(),
            ref: refSchema,
            manager: z
              .string()
              .optional()
              .describe(
                'Field manager that wrote it first; absent if the server did not record it.',
              ),
            createdAt: z.string().optional().describe('RFC 3339 UTC.'),
          }),
        ),
        unread: z
          .array(z.string())
          .describe('What could not be listed; if this is not empty there may be more objects.'),
      }),
    )
    .optional()
    .describe('With --unmanaged: unmanaged objects. They are not drift and are never recorded.'),
})

export type DriftReportList = z.infer<typeof driftReportListSchema>

export type NotePart = NonNullable<DriftReportList['notes']>[number]
