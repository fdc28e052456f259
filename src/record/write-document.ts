/** Documents as YAML text and back. The same document gives the same bytes. */
import { writeDocument } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import { isJsonObject, type Json, jsonEquals } from '@backporch/kyaml/json'
import type { z } from 'zod'
import { closedEpisodeSchema } from './documents/closed-episode.ts'
import { clusterObservationSchema } from './documents/cluster-observation.ts'
import { driftRecordSchema } from './documents/drift-record.ts'
import { driftReportSchema } from './documents/drift-report.ts'
import { frozen, knownTexts } from './known-texts.ts'
import { pushedBranchSchema } from './pushed-branch.ts'

/** Argo CD skips a file that begins with this line (argo-cd, reposerver/repository: skipFileRenderingMarker). */
export const INERT_LINE = '# +argocd:skip-file-rendering'

/**
 * The last document of our files in the repository's tree. `kustomize create --autodetect` takes every file of objects, whatever its name, and leaves
 * out one with a document that is no object (docs/adr/0067-names-that-no-applier-reads.md).
 */
export const NO_MANIFEST = '---\nbackporch: no manifest\n'

/** Whether a document is the last one of a file of ours. */
export function isNoManifest(value: Json): boolean {
  return isJsonObject(value) && Object.keys(value).join() === 'backporch'
}

/** For files in the repository's tree: inert for Argo CD by its first line, for kustomize by the last document, for others by their names. */
export function formatInertDocument(document: object): string {
  return `${INERT_LINE}\n${formatDocument(document)}${NO_MANIFEST}`
}

/** With the last document, which earlier versions did not write. */
export function withLastDocument(text: string): string {
  return text.endsWith(NO_MANIFEST)
    ? text
    : `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${NO_MANIFEST}`
}

/** Plain data only, without undefined. YAML whose plain scalars mean the same under YAML 1.1 and 1.2; keys in the order of the document. */
export function formatDocument(document: object): string {
  return writeDocument(document as Json)
}

/**
 * The text of a document that goes into git, made when somebody wants it, once: most plans of a turn are not written. Reading it again
 * takes nothing, and gives the very document, which is frozen then.
 */
export function laterText(document: object, format: typeof formatDocument): () => string {
  let text: string | undefined
  return () => {
    if (text === undefined) {
      text = format(document)
      knownTexts.remember(text, document)
    }
    return text
  }
}

/** Whether `formatDocument` gives this text. */
export function isWrittenAs(document: object, text: string): boolean {
  const known = knownTexts.known(text)
  if (known?.written === document) return true
  if (formatDocument(document) !== text) return false
  if (known !== undefined) known.written = document
  return true
}

/** Whether two documents have the same content: plain data, in which the order of keys does not matter. */
export function isSameDocument(left: object, right: object): boolean {
  return jsonEquals(left as Json, right as Json)
}

/** The kind of a document that was written here needs no check. */
const SCHEMA_OF: Readonly<Record<string, z.ZodType>> = {
  DriftReport: driftReportSchema,
  DriftRecord: driftRecordSchema,
  ClosedEpisode: closedEpisodeSchema,
  ClusterObservation: clusterObservationSchema,
  PushedBranch: pushedBranchSchema,
}

/**
 * Reads a document that Backporch wrote. What it gives is frozen, and the same object for the same text.
 * @throws Failure BP1110 when it is not YAML, BP1112 when it is not of the wanted kind
 */
export function parseDocument<Schema extends z.ZodType>(
  text: string,
  schema: Schema,
  where: string,
): z.infer<Schema> {
  const { value, written, checked: known } = knownTexts.read(text, where)
  const before =
    known.get(schema) ?? (written !== undefined && isOfKind(written, schema) ? written : undefined)
  if (before !== undefined) return before as z.infer<Schema>
  const checked = schema.safeParse(value)
  if (checked.success) {
    known.set(schema, frozen(checked.data))
    return checked.data
  }
  const [issue] = checked.error.issues
  throw new Failure({
    code: 'BP1112',
    what: 'a record of backporch cannot be read',
    where,
    why: issue === undefined ? 'it has another shape' : `${issue.path.join('.')}: ${issue.message}`,
    remedy: 'restore the file from the commit that wrote it; records are not edited by hand',
  })
}

function isOfKind(document: object, schema: z.ZodType): boolean {
  return (
    'kind' in document && typeof document.kind === 'string' && SCHEMA_OF[document.kind] === schema
  )
}
