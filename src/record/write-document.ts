/** Documents as YAML text and back. The same document gives the same bytes. */
import type { z } from 'zod'
import { Failure } from '../failure.ts'
import type { Json } from '../krm/json.ts'
import { writeDocument } from '../package/edit-yaml-write.ts'
import { readKnownText } from './known-texts.ts'

/** Argo CD skips a file that begins with this line (argo-cd, reposerver/repository: skipFileRenderingMarker). */
export const INERT_LINE = '# +argocd:skip-file-rendering'

/** For files in the repository's tree, which a syncer may read: inert for Argo CD by its first line, for others by the annotation. */
export function formatInertDocument(document: object): string {
  return `${INERT_LINE}\n${formatDocument(document)}`
}

/** Plain data only, without undefined. YAML whose plain scalars mean the same under YAML 1.1 and 1.2; keys in the order of the document. */
export function formatDocument(document: object): string {
  return writeDocument(document as Json)
}

/**
 * Reads a document that Backporch wrote.
 * @throws Failure BP1110 when it is not YAML, BP1112 when it is not of the wanted kind
 */
export function parseDocument<Schema extends z.ZodType>(text: string, schema: Schema, where: string): z.infer<Schema> {
  const checked = schema.safeParse(readKnownText(text, where))
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  throw new Failure({
    code: 'BP1112',
    what: 'a record of backporch cannot be read',
    where,
    why: issue === undefined ? 'it has another shape' : `${issue.path.join('.')}: ${issue.message}`,
    remedy: 'restore the file from the commit that wrote it; records are not edited by hand',
  })
}
