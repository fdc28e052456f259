/**
 * Reads the plain values of encrypted files if the operator lets `sops` decrypt (docs/adr/0025).
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { Failure, type FailureDetail } from '@backporch/kyaml/failure'
import type { PackageFile } from '@backporch/kyaml/files'
import { formatJson, type JsonObject } from '@backporch/kyaml/json'
import type { Note } from '@backporch/kyaml/note'
import { hasEncrypted, PlainValues } from '@backporch/kyaml/redaction'
import {
  describeResourceId,
  getResourceKey,
  type Resource,
  type ResourceId,
} from '@backporch/kyaml/resource'
import type { PackageHistory } from '../../drift/behind/sync-evidence.ts'
import type { EarlierValues } from '../../drift/detect/encrypted-fields.ts'
import type { PackageRenderer } from '../../sources/kpt/render/package-renderer.ts'
import { joinFolderPath } from '../../sources/kustomize/files/kustomization-walk.ts'
import type { ValueDecryptor } from '../../sources/programs/value-decryptor.ts'

interface EncryptedUnit {
  readonly packagePath: string
  readonly resources: readonly DesiredResource[]
  readonly files: readonly PackageFile[]
  /** From the repository root. */
  readonly outside: ReadonlyMap<string, PackageFile>
}

export interface UnitPlainValues {
  readonly plain: PlainValues
  readonly decryptor: ValueDecryptor
  readonly notes: readonly Note[]
}

const NOTHING: readonly JsonObject[] = []
const WIDTH = 4

/** Undefined if nothing is encrypted, or nothing may be decrypted. */
export async function readPlainValues(
  { decryptor }: PackageRenderer,
  { packagePath, resources, files, outside }: EncryptedUnit,
  signal: AbortSignal,
): Promise<UnitPlainValues | undefined> {
  if (decryptor === undefined || !resources.some(({ object }) => hasEncrypted(object)))
    return undefined
  const own = files.map((file) => [joinFolderPath(packagePath, file.path), file] as const)
  const texts = [...new Map([...own, ...outside])].flatMap(([where, { content }]) => {
    const text = /\.(?:ya?ml|json)$/.test(where) ? new TextDecoder().decode(content) : ''
    const format = where.endsWith('.json') ? ('json' as const) : ('yaml' as const)
    return text.includes('ENC[AES256_GCM,') && text.includes('sops')
      ? [{ where, text, format, signed: true }]
      : []
  })
  const values: PlainValues[] = []
  const notes: Note[] = []
  for (let at = 0; at < texts.length; at += WIDTH) {
    const answers = await Promise.all(
      texts.slice(at, at + WIDTH).map((text) => decryptor.decrypt(text, signal)),
    )
    for (const answer of answers) {
      if ('values' in answer) values.push(answer.values)
      else notes.push(createNote(answer.failure))
    }
  }
  return { plain: PlainValues.join(values), decryptor, notes }
}

function createNote(failure: FailureDetail): Note {
  const { code, what, where = '', why, remedy } = new Failure(failure)
  return {
    cause: 'value-not-decrypted',
    subject: where,
    text: `${code}: ${what}: ${why}; ${remedy}. Its values are judged by their last writer`,
  }
}

/** The returned function throws Failure BP40xx when git fails. */
export function createEarlierReader(
  { decryptor }: UnitPlainValues,
  history: () => Promise<PackageHistory>,
  signal: AbortSignal,
): (desired: Resource) => Promise<EarlierValues> {
  return async ({ id }) => {
    const [, ...before] = (await history()).versions
    const versions = before.flatMap(({ objects }) => objects.get(getResourceKey(id)) ?? NOTHING)
    return readEarlierValues(decryptor, id, versions, signal)
  }
}

/** @param versions with the mapping `sops`, as rendered, newest first */
async function readEarlierValues(
  decryptor: ValueDecryptor,
  id: ResourceId,
  versions: readonly JsonObject[],
  signal: AbortSignal,
): Promise<EarlierValues> {
  const earlier: { readonly object: JsonObject; readonly plain: PlainValues }[] = []
  let complete = true
  const seen = new Set<string>()
  for (const object of versions) {
    const text = formatJson(object)
    if (seen.has(text)) continue
    seen.add(text)
    if (!hasEncrypted(object)) {
      earlier.push({ object, plain: new PlainValues(new Map()) })
      continue
    }
    const where = `an earlier version of ${describeResourceId(id)}`
    const answer = await decryptor.decrypt({ where, text, format: 'json', signed: false }, signal)
    if ('values' in answer) earlier.push({ object, plain: answer.values })
    else complete = false
  }
  return { versions: earlier, complete }
}
