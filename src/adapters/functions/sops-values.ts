/**
 * Age keys only. No output or message leaves this file: the output is plain text, and for a wrong
 * signature the message quotes a hash of the plain values (getsops/sops `cmd/sops/codes/codes.go`,
 * `cmd/sops/common/common.go`).
 */
import { createHash } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { editYaml, type YamlEdit } from '@backporch/kyaml/edit-yaml'
import { Failure, type FailureDetail } from '@backporch/kyaml/failure'
import { createFieldStep } from '@backporch/kyaml/field'
import {
  getKey,
  getPartAt,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { PlainValues, pairValues } from '@backporch/kyaml/redaction'
import { findProgram } from '@backporch/system/find-program'
import { LRUCache } from 'lru-cache'
import type {
  Decryption,
  EncryptedText,
  ValueDecryptor,
} from '../../sources/programs/value-decryptor.ts'
import { makeScratchFolder } from '../system/scratch-folder.ts'
import { FUNCTION_LIMITS, type FunctionLimits } from './function-limits.ts'
import { runProgram } from './run-program.ts'

interface SopsOptions {
  /** Only `sops` or its absolute path matters. */
  readonly allowed: readonly string[]
  readonly environment: { readonly [name: string]: string | undefined }
  /** For a relative `SOPS_AGE_KEY_FILE`. */
  readonly workingDirectory: string
  readonly limits?: FunctionLimits
}

const KEPT = 10_000
/** Milliseconds: the key file may have changed. */
const TRIED_AGAIN = 300_000
const KEYS = ['SOPS_AGE_KEY', 'SOPS_AGE_KEY_FILE'] as const
/** Key types for which SOPS asks a service or another program. */
const OTHER_KEYS = ['kms', 'gcp_kms', 'azure_kv', 'hc_vault', 'hckms', 'pgp', 'key_groups'] as const
const NO_NETWORK = {
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '',
}
/** The signature is missing or wrong, or a value is plain or was moved. */
const EDITED = [24, 25, 51, 52]
const NO_KEY = 128

/** Undefined if the operator does not allow sops. */
export function createSopsDecryptor(options: SopsOptions): ValueDecryptor | undefined {
  const program = options.allowed.find(
    (each) => each === 'sops' || (each.startsWith('/') && each.endsWith('/sops')),
  )
  return program === undefined ? undefined : new SopsValues(program, options)
}

class SopsValues implements ValueDecryptor {
  private readonly program: string
  private readonly options: SopsOptions
  private readonly known = new LRUCache<string, Decryption>({ max: KEPT })
  private readonly running = new Map<string, Promise<Decryption>>()

  constructor(program: string, options: SopsOptions) {
    this.program = program
    this.options = options
  }

  async decrypt(encrypted: EncryptedText, signal: AbortSignal): Promise<Decryption> {
    const { where, text, format, signed } = encrypted
    const key = createHash('sha256')
      .update(JSON.stringify([where, format, signed, text]))
      .digest('base64')
    const known = this.known.get(key)
    if (known !== undefined) return known
    // Several clusters may share the same file.
    const running =
      this.running.get(key) ?? this.ask(encrypted, signal).finally(() => this.running.delete(key))
    this.running.set(key, running)
    const answer = await running.catch((thrown: unknown) => {
      // The shared run may have ended with another caller's signal.
      signal.throwIfAborted()
      if (thrown instanceof Failure) throw thrown
      return this.ask(encrypted, signal)
    })
    this.known.set(key, answer, 'failure' in answer ? { ttl: TRIED_AGAIN } : {})
    return answer
  }

  private async ask(encrypted: EncryptedText, signal: AbortSignal): Promise<Decryption> {
    const { where } = encrypted
    const environment = this.collectKeys()
    if (Object.keys(environment).length === 0)
      return createDecryptionFailure(
        where,
        'sops is allowed, but it has no key',
        `set ${KEYS[1]} or ${KEYS[0]} to the age key`,
      )
    const program = findProgram(this.program, this.options.environment['PATH'] ?? '')
    if (program === undefined)
      return createDecryptionFailure(
        where,
        'sops is not on the PATH, or it cannot be run',
        'install it where backporch runs',
      )
    try {
      const documents = parseDocuments(encrypted.text, where)
      const recipients = findRecipients(documents)
      if (typeof recipients === 'string') return createDecryptionFailure(where, recipients, ADD_AGE)
      const text =
        recipients.others.length === 0 ? encrypted.text : omitKeys(encrypted, recipients.others)
      const end = await this.run({ ...encrypted, text }, { program, environment }, signal)
      if (typeof end !== 'string') return end
      const plain = parseDocuments(end, where)
      return {
        values: new PlainValues(
          new Map(documents.flatMap((each, at) => [...pairValues(each, plain[at])])),
        ),
      }
    } catch (thrown) {
      signal.throwIfAborted()
      // A parser message may quote the text.
      if (!(thrown instanceof Failure))
        return createDecryptionFailure(
          where,
          'the file or the output of sops cannot be read',
          BY_HAND,
        )
      return createDecryptionFailure(
        where,
        `the file or the output of sops cannot be read (${thrown.code})`,
        BY_HAND,
      )
    }
  }

  private async run(
    { where, text, format, signed }: EncryptedText,
    {
      program,
      environment,
    }: { readonly program: string; readonly environment: { readonly [name: string]: string } },
    signal: AbortSignal,
  ): Promise<string | Decryption> {
    const folder = await makeScratchFolder('backporch-sops-')
    try {
      const file = join(folder, `encrypted.${format}`)
      await writeFile(file, text, { mode: 0o600 })
      const words = [
        '-d',
        '--input-type',
        format,
        '--output-type',
        format,
        ...(signed ? [] : ['--ignore-mac']),
        file,
      ]
      const variables = { ...environment, ...NO_NETWORK, LANG: 'C.UTF-8', TZ: 'UTC' }
      const limits = this.options.limits ?? FUNCTION_LIMITS
      const end = await runProgram(
        { program, words, folder, input: '', environment: variables, limits },
        signal,
      )
      if (end.is !== 'ended') return createDecryptionFailure(where, end.why, BY_HAND)
      return end.exitCode === 0 ? end.stdout : createExitFailure(where, end.exitCode)
    } finally {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined)
    }
  }

  private collectKeys(): { readonly [name: string]: string } {
    const { environment, workingDirectory } = this.options
    const given = KEYS.flatMap((name) => {
      const value = environment[name] || undefined
      if (value === undefined) return []
      return [[name, name === 'SOPS_AGE_KEY_FILE' ? resolve(workingDirectory, value) : value]]
    })
    return Object.fromEntries(given)
  }
}

const BY_HAND = 'run sops -d on it where backporch runs, and correct the reported error'
const ADD_AGE =
  'add an age recipient (sops updatekeys); until then, its values are judged by their last writer'

function createExitFailure(where: string, exitCode: number): Decryption {
  if (EDITED.includes(exitCode))
    return createDecryptionFailure(
      where,
      'a value or the signature is not what SOPS wrote: the file was edited without the key',
      'restore the file, and change it with sops edit',
    )
  if (exitCode === NO_KEY)
    return createDecryptionFailure(
      where,
      'no given key decrypts it',
      `give the key of one of its age recipients in ${KEYS[1]} or ${KEYS[0]}`,
    )
  return createDecryptionFailure(
    where,
    `sops ended with exit code ${exitCode}; its output is not shown, because it reads Secrets`,
    BY_HAND,
  )
}

function createDecryptionFailure(
  where: string,
  why: string,
  remedy: string,
): { readonly failure: FailureDetail } {
  return {
    failure: {
      code: 'BP1211',
      what: 'cannot decrypt the values',
      where,
      why,
      remedy,
      retry: 'backoff',
    },
  }
}

function parseDocuments(text: string, where: string): readonly Json[] {
  return parseGoYaml(text, where).documents.map(({ value }) => value)
}

function findRecipients(
  documents: readonly Json[],
): { readonly others: readonly string[] } | string {
  const blocks = documents.flatMap((document): JsonObject[] => {
    const sops = isJsonObject(document) ? getKey(document, 'sops') : undefined
    return isJsonObject(sops) ? [sops] : []
  })
  const names = new Set(
    blocks.flatMap((block) =>
      ['age', ...OTHER_KEYS].filter((name) => isFilled(getKey(block, name))),
    ),
  )
  if (names.has('key_groups'))
    return 'it has groups of keys, and only a single list of age recipients is supported'
  if (!names.has('age')) {
    const others = names.size === 0 ? '' : ` (${[...names].join(', ')})`
    return `it has no age recipient, and no other kind of key is supported${others}`
  }
  return { others: [...names].filter((name) => name !== 'age') }
}

function isFilled(value: Json | undefined): boolean {
  return isJsonArray(value) ? value.length > 0 : value !== undefined && value !== null
}

/** The signature does not cover these keys. */
function omitKeys({ text, format }: EncryptedText, names: readonly string[]): string {
  if (format === 'json')
    return JSON.stringify(JSON.parse(text), (key, value: unknown) =>
      key === 'sops' ? omitNames(value, names) : value,
    )
  const edits = parseGoYaml(text, 'the file').documents.flatMap(({ index, value }) =>
    names
      .filter((name) => getPartAt(value, 'sops', name) !== undefined)
      .map(
        (name): YamlEdit => ({
          document: index,
          item: undefined,
          kind: 'remove',
          path: [createFieldStep('sops'), createFieldStep(name)],
        }),
      ),
  )
  return editYaml(text, edits, 'the file')
}

function omitNames(value: unknown, names: readonly string[]): unknown {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => !names.includes(name)))
}
