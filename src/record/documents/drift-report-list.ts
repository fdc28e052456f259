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
          'The first ones; every one with --verbose. `subject` is what a note is about, empty where the text says it.',
        ),
    }),
  )
  .optional()
  .describe('What a reader should know that is no drift and no failure, one entry for each cause.')

export const driftReportListSchema = z.object({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('DriftReportList'),
  observedAt: z
    .string()
    .describe(
      'RFC 3339 UTC: every item was looked at then or later; of one that cannot be observed, the last look that saw it counts. Empty where nothing was ever observed.',
    ),
  incomplete: z
    .array(incompleteSchema)
    .describe(
      'What could not be observed. Absence of drift is not proven where this is not empty.',
    ),
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
            'RFC 3339 UTC of the last successful observation of every package; absent where the ledger has none.',
          ),
        reachable: z.boolean().describe('False while the cluster cannot be observed.'),
        failure: clusterFailureSchema.optional(),
      }),
    )
    .optional()
    .describe('Of `status`: the clusters of the items, as the ledger has them.'),
  proposals: z
    .array(z.object({ branch: z.string(), label: z.string(), url: z.string() }))
    .optional()
    .describe(
      'Open proposals that a scan made or kept: label as the forge calls it (`#418`), url empty where git is the forge.',
    ),
  wouldWrite: z
    .array(z.string())
    .optional()
    .describe('Of a dry run: every write of a real run that is not there already, in order.'),
  actions: z
    .array(z.looseObject({ kind: z.string() }))
    .optional()
    .describe(
      'Of a dry run: the whole plan, in order. Hidden values are hashes; `hidden` stands for a file of which nothing is shown.',
    ),
  unmanaged: z
    .array(
      z.object({
        cluster: z.string(),
        namespaces: z
          .array(z.string())
          .describe('Where was looked: the namespaces of the packages.'),
        objects: z.array(
          z.object({
            apiVersion: z.string(),
            ref: refSchema,
            manager: z
              .string()
              .optional()
              .describe(
                'Field manager that wrote it first; absent where the server kept no trace.',
              ),
            createdAt: z.string().optional().describe('RFC 3339 UTC.'),
          }),
        ),
        unread: z
          .array(z.string())
          .describe('What could not be listed; where this is not empty there may be more objects.'),
      }),
    )
    .optional()
    .describe(
      'With --unmanaged: objects that nobody manages. They are no drift and are never recorded.',
    ),
})

export type DriftReportList = z.infer<typeof driftReportListSchema>

export type NotePart = NonNullable<DriftReportList['notes']>[number]
