/** Fields have the long names of flags. */
import { FORGE_KINDS } from '@backporch/forge/forge-setup'
import { parseLabelSelector } from '@backporch/kyaml/resource'
import { convertDurationToSeconds } from '@backporch/kyaml/text'
import * as z from 'zod'
import { durationSchema } from '../../policy/schema.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import { normalizeRepositoryLocation } from '../../syncers/sync-path.ts'

const word = z.string().min(1).max(1_000)
/** A Node timer holds at most 24 days. */
const intervalSchema = durationSchema.refine(
  (text) => convertDurationToSeconds(text) <= 86_400,
  'wanted a duration from 1s to 24h',
)

const clusterSchema = z.strictObject({
  name: word
    .optional()
    .describe(
      'Name in records; the name of the context by default. Each cluster has one name in the whole file.',
    ),
  context: word.describe('Context of the kubeconfig.'),
  kubeconfig: word
    .optional()
    .describe(
      'Path of the kubeconfig, relative to the working directory; by default that of --kubeconfig, or that of kubectl.',
    ),
})

const repositorySchema = z
  .strictObject({
    repo: word.describe(
      'Repository with the packages: a path, or an https or ssh address without a credential.',
    ),
    branch: word
      .optional()
      .describe('Base branch; the default branch of the repository by default.'),
    forge: z
      .enum(FORGE_KINDS)
      .optional()
      .describe('Forge for reviews; detected from the address by default.'),
    contexts: z
      .array(word)
      .min(1, 'wanted at least one cluster')
      .max(10_000)
      .optional()
      .describe('Contexts of the kubeconfig. Either this or `clusters`.'),
    clusters: z
      .array(clusterSchema)
      .min(1, 'wanted at least one cluster')
      .max(10_000)
      .optional()
      .describe('Clusters with names or kubeconfigs of their own. Either this or `contexts`.'),
    packages: z
      .array(word)
      .min(1)
      .max(10_000)
      .optional()
      .describe('Paths of packages; the placed ones, or all, by default.'),
    path: z
      .array(word)
      .min(1)
      .max(10_000)
      .optional()
      .describe('Folders without a Kptfile that are compared too.'),
    selector: z
      .string()
      .max(1_000)
      .superRefine((text, context) => {
        const parsed = parseLabelSelector(text)
        if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem })
      })
      .optional()
      .describe('Only packages with these labels in their Kptfile: team=shop,!legacy.'),
    fieldManager: word
      .optional()
      .describe('Field manager of the syncer; detected from the objects by default.'),
    preview: z
      .boolean()
      .optional()
      .describe(
        'Comment on open pull requests what merging them changes; that of --preview by default.',
      ),
    interval: intervalSchema
      .optional()
      .describe('Time between two polls of git and the forge; that of --interval by default.'),
    resyncInterval: intervalSchema
      .optional()
      .describe(
        'Time between two full turns if the clusters are watched; that of --resync-interval by default.',
      ),
  })
  .superRefine(({ contexts, clusters }, context) => {
    if (contexts === undefined && clusters === undefined)
      context.addIssue({
        code: 'custom',
        message:
          'wanted contexts or clusters: a repository without a cluster has nothing to compare',
      })
    if (contexts !== undefined && clusters !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['contexts'],
        message: 'wanted contexts or clusters, not both',
      })
  })

export const controllerConfigSchema = z.strictObject({
  apiVersion: z.literal(API_VERSION),
  kind: z.literal('ControllerConfig'),
  metadata: z.strictObject({ name: word.optional() }).optional(),
  spec: z.strictObject({
    repositories: z
      .array(repositorySchema)
      .min(1, 'wanted at least one repository')
      .max(10_000)
      .describe('Each repository once. A cluster of several repositories is watched once.'),
  }),
})

export interface ConfiguredCluster {
  readonly name: string
  readonly context: string
  readonly kubeconfig: string | undefined
}

export type ConfiguredRepository = z.infer<typeof repositorySchema>

/** Without scheme and user, for logs and metrics. */
export function nameOfRepository(address: string): string {
  const location = normalizeRepositoryLocation(address)
  const port = getWebPort(address) || undefined
  return port === undefined ? location : location.replace(/(?=\/)/, `:${port}`)
}

/** Empty for the scheme's default; undefined without a web address. */
export function getWebPort(address: string): string | undefined {
  const url = URL.parse(address)
  return url !== null && /^https?:$/.test(url.protocol) ? url.port : undefined
}

export function listConfiguredClusters({
  contexts = [],
  clusters = [],
}: ConfiguredRepository): readonly ConfiguredCluster[] {
  return [
    ...contexts.map((context) => ({ name: context, context, kubeconfig: undefined })),
    ...clusters.map(({ name, context, kubeconfig }) => ({
      name: name ?? context,
      context,
      kubeconfig,
    })),
  ]
}
