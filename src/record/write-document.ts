/** The same document gives the same bytes. */
import { writeDocument } from '@backporch/kyaml/edit-yaml'
import { Failure } from '@backporch/kyaml/failure'
import { isJsonEqual, isJsonObject, type Json } from '@backporch/kyaml/json'
import type { z } from 'zod'
import { closedEpisodeSchema } from './documents/closed-episode.ts'
import { clusterObservationSchema } from './documents/cluster-observation.ts'
import { driftRecordSchema } from './documents/drift-record.ts'
import { driftReportSchema } from './documents/drift-report.ts'
import { freezeDeep, knownTexts } from './known-texts.ts'
import { pushedBranchSchema } from './pushed-branch.ts'

/**
 * Argo CD skips a file that begins with this line (argo-cd, reposerver/repository:
 * skipFileRenderingMarker).
 */
export const INERT_LINE = '# +argocd:skip-file-rendering'

/**
 * `kustomize create --autodetect` adds every file of objects, whatever its name, but omits one with
 * a document that is not an object (docs/adr/0067-names-that-no-applier-reads.md).
 */
export const NO_MANIFEST = '---\nbackporch: no manifest\n'

export function isNoManifest(value: Json): boolean {
  return isJsonObject(value) && Object.keys(value).join() === 'backporch'
}

/**
 * Inert for Argo CD by the first line, for kustomize by the last document, for others by the name.
 */
export function formatInertDocument(document: object): string {
  return `${INERT_LINE}\n${formatDocument(document)}${NO_MANIFEST}`
}

export function appendLastDocument(text: string): string {
  return text.endsWith(NO_MANIFEST)
    ? text
    : `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${NO_MANIFEST}`
}

/**
 * Only plain data, without undefined. Plain scalars mean the same under YAML 1.1 and 1.2; keys in
 * document order.
 */
export function formatDocument(document: object): string {
  return writeDocument(document as Json)
}

/** Created once, on demand: most plans of a turn are not written. The document is then frozen. */
export function deferText(document: object, format: typeof formatDocument): () => string {
  let text: string | undefined
  return () => {
    if (text === undefined) {
      text = format(document)
      knownTexts.remember(text, document)
    }
    return text
  }
}

export function isWrittenAs(document: object, text: string): boolean {
  const known = knownTexts.findKnown(text)
  if (known?.written === document) return true
  if (formatDocument(document) !== text) return false
  if (known !== undefined) known.written = document
  return true
}

/** Plain data, in which key order does not matter. */
export function isSameDocument(left: object, right: object): boolean {
  return isJsonEqual(left as Json, right as Json)
}

/** A document that was written here needs no check of its kind. */
const SCHEMA_OF: Readonly<Record<string, z.ZodType>> = {
  DriftReport: driftReportSchema,
  DriftRecord: driftRecordSchema,
  ClosedEpisode: closedEpisodeSchema,
  ClusterObservation: clusterObservationSchema,
  PushedBranch: pushedBranchSchema,
}

/**
 * The result is frozen, and the same object for the same text.
 * @throws Failure BP1110 if it is not YAML, BP1112 if it is not of the wanted kind
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
    known.set(schema, freezeDeep(checked.data))
    return checked.data
  }
  const [issue] = checked.error.issues
  throw new Failure({
    code: 'BP1112',
    what: 'a record of backporch cannot be read',
    where,
    why:
      issue === undefined
        ? 'it has an unexpected structure'
        : `${issue.path.join('.')}: ${issue.message}`,
    remedy: 'restore the file from the commit that wrote it; records are not edited by hand',
  })
}

function isOfKind(document: object, schema: z.ZodType): boolean {
  return (
    'kind' in document && typeof document.kind === 'string' && SCHEMA_OF[document.kind] === schema
  )
}
