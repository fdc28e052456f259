/** Makes hidden values and fingerprints comparable but not guessable. Never stored in git. */
import { randomBytes } from 'node:crypto'
import { chmod, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import { createRedactionKey, type RedactionKey } from '@backporch/kyaml/redaction'

/** Another run has another key, unless it finds the file. */
const made = new Set<string>()

/** Characters: 128 bits as hex digits. */
const SHORTEST = 32

interface KeySource {
  readonly value: string | undefined
  readonly path: string
}

interface LoadedKey {
  readonly key: RedactionKey
  readonly created: boolean
}

/** @throws Failure BP1009 if the key is too short or its file is unusable */
export async function loadInstallationKey({ value, path }: KeySource): Promise<LoadedKey> {
  if (value) return { key: parseKey(value, 'BACKPORCH_KEY'), created: false }
  const stored = await readKeyFile(path)
  if (stored !== undefined) return { key: parseKey(stored, path, made.has(path)), created: false }
  await createKeyFile(path)
  made.add(path)
  // If two processes create it at once, both use the winner's key.
  const created = await readKeyFile(path)
  if (created === undefined)
    throw createKeyFailure(path, 'the file was removed while it was created')
  return { key: parseKey(created, path, true), created: true }
}

/**
 * Creates no key.
 * @throws Failure BP1009
 */
export async function findInstallationKey({
  value,
  path,
}: KeySource): Promise<'environment' | 'file' | 'nowhere'> {
  if (value) {
    parseKey(value, 'BACKPORCH_KEY')
    return 'environment'
  }
  const stored = await readKeyFile(path)
  if (stored === undefined) return 'nowhere'
  parseKey(stored, path)
  return 'file'
}

function parseKey(text: string, where: string, isNew = false): RedactionKey {
  const trimmed = text.trim()
  if (trimmed.length < SHORTEST)
    throw createKeyFailure(
      where,
      `it has ${trimmed.length} characters, and fewer than ${SHORTEST} can be guessed`,
    )
  return createRedactionKey(Buffer.from(trimmed, 'utf8'), isNew)
}

async function readKeyFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (thrown) {
    if (getErrorCode(thrown) === 'ENOENT') return undefined
    throw createKeyFailure(path, `the file cannot be read (${getErrorCode(thrown)})`, thrown)
  }
}

async function createKeyFile(path: string): Promise<void> {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(draft, `${randomBytes(32).toString('hex')}\n`, { mode: 0o600, flag: 'wx' })
    await chmod(draft, 0o600)
    // A link fails if the name exists, and no process sees a partial file.
    await link(draft, path).catch((thrown: unknown) => {
      if (getErrorCode(thrown) !== 'EEXIST') throw thrown
    })
  } catch (thrown) {
    throw createKeyFailure(path, `the file cannot be created (${getErrorCode(thrown)})`, thrown)
  } finally {
    await rm(draft, { force: true }).catch(() => undefined)
  }
}

function createKeyFailure(where: string, why: string, cause?: unknown): Failure {
  return new Failure({
    code: 'BP1009',
    what: 'the installation key cannot be used',
    where,
    why,
    remedy:
      'set BACKPORCH_KEY to at least 32 random characters, for example from "openssl rand -hex 32"',
    cause,
  })
}

function getErrorCode(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown error'
}
