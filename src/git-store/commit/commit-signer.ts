import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Failure } from '@backporch/kyaml/failure'
import type { Environment } from '@backporch/system/child-environment'
import { getSetting, readKeyFile, restoreLineBreaks } from '@backporch/system/key-setting'
import {
  computeKeyFingerprint,
  isSignedBy,
  parsePrivateKey,
  parsePublicKey,
  type SigningKey,
  signCommit,
  UnusableKey,
} from './ssh-signature.ts'

const KEY = 'BACKPORCH_SIGNING_KEY'
const KEY_FILE = 'BACKPORCH_SIGNING_KEY_FILE'
const SIGNERS_FILE = 'BACKPORCH_ALLOWED_SIGNERS_FILE'
/** Bytes; a large organization has some hundred lines of a hundred bytes. */
const LARGEST = 1024 * 1024
const READ_BY_ALL = 0o004

/** Recognises signatures of this or an earlier key. */
export interface CommitSigner {
  sign(commit: Buffer): Buffer
  isOurs(commit: Buffer): boolean
}

interface FoundKey {
  readonly key: SigningKey
  readonly from: string
  readonly file: string | undefined
}

/**
 * Undefined if no key is named. @param folder base of a relative path @param email of the bot:
 * allowed-signers lines for others do not count
 * @throws Failure BP1012, never with anything of a private key in it
 */
export async function findCommitSigner(
  environment: Environment,
  folder: string,
  email: string,
): Promise<CommitSigner | undefined> {
  const found = await findKey(environment, folder)
  const file = getSetting(environment, SIGNERS_FILE)
  if (found === undefined) {
    if (file === undefined) return undefined
    throw createUnusableFailure(
      SIGNERS_FILE,
      `it is set, and neither ${KEY_FILE} nor ${KEY}`,
      `set ${KEY_FILE} to the key that signs, or unset it`,
    )
  }
  const { key } = found
  const known = [
    key.publicKey,
    ...(file === undefined
      ? []
      : parseAllowedSigners(await readText(resolve(folder, file)), resolve(folder, file), email)),
  ]
  return {
    sign: (commit) => signCommit(commit, key),
    isOurs: (commit) => isSignedBy(commit, known),
  }
}

/** @throws Failure BP1012 */
export async function describeSigningKey(
  environment: Environment,
  folder: string,
  email: string,
): Promise<
  { readonly from: string; readonly fingerprint: string; readonly readByAll: boolean } | undefined
> {
  await findCommitSigner(environment, folder, email)
  const found = await findKey(environment, folder)
  if (found === undefined) return undefined
  const { from, file, key } = found
  const mode = file === undefined ? 0 : (await stat(file)).mode
  return {
    from,
    fingerprint: computeKeyFingerprint(key.publicKey),
    readByAll: process.platform !== 'win32' && (mode & READ_BY_ALL) !== 0,
  }
}

async function findKey(environment: Environment, folder: string): Promise<FoundKey | undefined> {
  const [text, path] = [getSetting(environment, KEY), getSetting(environment, KEY_FILE)]
  if (text !== undefined && path !== undefined)
    throw createUnusableFailure(KEY, `${KEY_FILE} is set as well`, 'unset one of them')
  const file = path === undefined ? undefined : resolve(folder, path)
  const given = file ?? text
  if (given === undefined) return undefined
  const from = file ?? KEY
  const pem = file === undefined ? restoreLineBreaks(given) : await readText(file)
  try {
    return { key: parsePrivateKey(pem), from, file }
  } catch (thrown) {
    if (!(thrown instanceof UnusableKey))
      throw createUnusableFailure(from, 'it is damaged', MAKE_ONE)
    throw createUnusableFailure(from, thrown.message, MAKE_ONE)
  }
}

const MAKE_ONE =
  "give one without a passphrase: ssh-keygen -t ed25519 -N '' -C backporch -f signing-key"

async function readText(path: string): Promise<string> {
  const read = await readKeyFile(path, LARGEST)
  if ('text' in read) return read.text
  if (read.problem === undefined)
    throw createUnusableFailure(path, 'the file is too large', 'name the right file')
  throw createUnusableFailure(
    path,
    `the file cannot be read (${read.problem})`,
    'name an existing file that this user can read',
  )
}

/**
 * ssh-keygen(1), ALLOWED SIGNERS. A key with any limit other than a namespace is rejected: without
 * its limit it would be trusted too far.
 */
export function parseAllowedSigners(text: string, where: string, email: string): Buffer[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    const at = `${where}:${index + 1}`
    if (line.trim() === '' || line.startsWith('#')) return []
    const [, quoted, plain, more = ''] = /^(?:"([^"]*)"|(\S+))\s+(.*)$/.exec(line) ?? []
    const principals = quoted ?? plain
    if (principals === undefined)
      throw createUnusableFailure(
        at,
        'it is not a line of an allowed signers file',
        `write it as ${email} ssh-ed25519 AAAA…`,
      )
    if (!matches(principals, email)) return []
    const [, options, type = '', key = ''] =
      /^(?:([a-z-]+(?:="[^"]*")?(?:,[a-z-]+(?:="[^"]*")?)*)\s+)?((?:ssh|ecdsa|sk)-\S+)\s+(\S+)/i.exec(
        more,
      ) ?? []
    const namespaces = /^namespaces="([^"]*)"$/i.exec(options ?? '')?.[1]
    if (options !== undefined && namespaces === undefined)
      throw createUnusableFailure(
        at,
        `the option ${options.slice(0, 40)} is not supported`,
        'leave namespaces="git" alone there, and remove a line whose key is not good any more',
      )
    if (namespaces !== undefined && !matches(namespaces, 'git')) return []
    try {
      const parsed = parsePublicKey(type, key)
      if (parsed !== undefined) return [parsed]
    } catch (thrown) {
      if (!(thrown instanceof UnusableKey)) throw thrown
    }
    throw createUnusableFailure(
      at,
      'its key is not of the type ssh-ed25519',
      'give the line of the .pub file that ssh-keygen -t ed25519 made',
    )
  })
}

function matches(patterns: string, text: string): boolean {
  const found = patterns.split(',').map((pattern) => {
    const isNegated = pattern.startsWith('!')
    const source = pattern.slice(isNegated ? 1 : 0).replace(/[.+^${}()|[\]\\]/g, '\\$&')
    const hits = new RegExp(`^${source.replaceAll('*', '.*').replaceAll('?', '.')}$`).test(text)
    return { isNegated, hits }
  })
  return (
    found.some(({ isNegated, hits }) => hits && !isNegated) &&
    !found.some(({ isNegated, hits }) => hits && isNegated)
  )
}

function createUnusableFailure(where: string, why: string, remedy: string): Failure {
  return new Failure({
    code: 'BP1012',
    what: 'commits cannot be signed',
    where,
    why,
    remedy,
    retry: 'on-change',
  })
}
