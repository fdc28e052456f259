/**
 * A case of the drift corpus: a folder that a person can read. `case.yaml` says what it is about, who applied the package, what
 * was done then and what is true; `package/` is the package, `history/<n>/` are earlier versions of it, `setup/` is what
 * was in the cluster before, `live.json` and `predicted.json` are what the real API server said.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'

export const CORPUS = fileURLToPath(new URL('../corpus/drift', import.meta.url))

/** Who applies the package. `manager` is for tools that let it be chosen. */
export interface AppliedBy {
  readonly tool: string
  readonly manager: string | undefined
  /** Folder of the version that is applied, from the case's folder. */
  readonly from: string
}

export type Step =
  /** A kubectl command as somebody types it, in the namespace and the folder of the case. */
  | { readonly do: 'kubectl'; readonly args: readonly string[]; readonly stdin: string | undefined }
  /** `kubectl edit` with an editor that replaces a text. */
  | { readonly do: 'edit'; readonly object: string; readonly from: string; readonly to: string }
  /** A request as a controller or a webhook sends it. */
  | {
      readonly do: 'request'
      readonly method: string
      readonly path: string
      readonly type: string
      readonly body: Json | undefined
    }
  /** The package is applied (again). */
  | { readonly do: 'apply'; readonly applied: AppliedBy }

/** One line of `backporch diff`. */
export interface ExpectedChange {
  /** `Deployment/web` */
  readonly object: string
  readonly change: string
  /** Empty for a whole object. */
  readonly path: string
  readonly manager: string
  readonly class: string
  readonly risk: string
}

/** A difference that is told and is no drift. */
export interface ExpectedSetAside {
  readonly object: string
  readonly path: string
  readonly state: string
  /** Undefined: any. */
  readonly rule: string | undefined
}

/** What is true of a case, whatever a tool says. */
export interface Truth {
  /** Empty: nothing is to be shown. */
  readonly drift: readonly ExpectedChange[]
  /** Undefined: whatever is set aside is right. */
  readonly setAside: readonly ExpectedSetAside[] | undefined
  /** Objects of which something cannot be proven: `Secret/web: unverified`. */
  readonly unproven: Readonly<Record<string, string>>
  /** Objects of which a plain apply of what git says is refused. */
  readonly applyRefused: readonly string[]
}

export interface DriftCase {
  readonly name: string
  readonly folder: string
  /** One sentence. */
  readonly about: string
  /** Row of the score. */
  readonly class: string
  readonly applied: AppliedBy
  readonly steps: readonly Step[]
  readonly truth: Truth
  /** Why ours is known not to see the truth yet. */
  readonly knownGap: string | undefined
}

/** Every case, by name. */
export function readCases(words: readonly string[] = []): DriftCase[] {
  return readdirSync(CORPUS)
    .filter((name) => existsSync(join(CORPUS, name, 'case.yaml')))
    .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
    .sort()
    .map(readCase)
}

/** @throws Error that names the file, when it is not a case */
export function readCase(name: string): DriftCase {
  const folder = join(CORPUS, name)
  const where = join(folder, 'case.yaml')
  const [document, ...more] = parseGoYaml(readFileSync(where, 'utf8'), where).documents
  const reader = new CaseReader(where)
  if (document === undefined || more.length > 0) throw reader.wrong('it is not one document')
  const top = reader.object(document.value, 'it', [
    'about',
    'class',
    'applied',
    'steps',
    'expect',
    'known-gap',
  ])
  const applied = reader.applied(top['applied'] ?? 'kubectl-server-side', {
    tool: '',
    manager: undefined,
    from: 'package',
  })
  return {
    name,
    folder,
    about: reader.text(top, 'about'),
    class: reader.text(top, 'class'),
    applied,
    steps: reader.list(top['steps'], 'steps').map((step) => reader.step(step, applied)),
    truth: reader.truth(top['expect']),
    knownGap: top['known-gap'] === undefined ? undefined : reader.text(top, 'known-gap'),
  }
}

/** Files of a version of the package by their path in it; a Kptfile is made where there is none. */
export function packageFiles(
  { folder, name }: Pick<DriftCase, 'folder' | 'name'>,
  from: string,
): Record<string, string> {
  const files = filesBelow(join(folder, from))
  const kptfile = `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`
  return { Kptfile: kptfile, ...files }
}

/** Names of the folders below `history/`, oldest first. */
export function earlierVersions({ folder }: Pick<DriftCase, 'folder'>): string[] {
  const history = join(folder, 'history')
  return existsSync(history)
    ? readdirSync(history)
        .sort((left, right) => Number(left) - Number(right))
        .map((version) => `history/${version}`)
    : []
}

export function filesBelow(folder: string): Record<string, string> {
  if (!existsSync(folder)) return {}
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const paths = entries
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort()
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

class CaseReader {
  private readonly where: string

  constructor(where: string) {
    this.where = where
  }

  wrong(why: string): Error {
    return new Error(`${this.where}: ${why}`)
  }

  object(value: Json | undefined, what: string, keys: readonly string[]): JsonObject {
    if (!isJsonObject(value)) throw this.wrong(`${what} is not an object`)
    const unknown = Object.keys(value).filter((key) => !keys.includes(key))
    if (unknown.length > 0) throw this.wrong(`${what} has an unknown key ${unknown[0]}`)
    return value
  }

  text(object: JsonObject, key: string, otherwise?: string): string {
    const value = object[key] ?? otherwise
    if (typeof value !== 'string') throw this.wrong(`${key} is missing or no text`)
    return value
  }

  list(value: Json | undefined, what: string): readonly Json[] {
    if (value === undefined || value === null) return []
    if (!isJsonArray(value)) throw this.wrong(`${what} is no list`)
    return value
  }

  applied(value: Json, base: AppliedBy): AppliedBy {
    if (typeof value === 'string')
      return { ...base, tool: value, manager: value === 'kubectl-server-side' ? 'ci' : undefined }
    const object = this.object(value, 'applied', ['by', 'manager', 'from'])
    const tool = this.text(object, 'by', base.tool)
    const manager =
      object['manager'] ??
      (tool === base.tool ? base.manager : tool === 'kubectl-server-side' ? 'ci' : undefined)
    if (manager !== undefined && typeof manager !== 'string') throw this.wrong('manager is no text')
    return { tool, manager, from: this.text(object, 'from', 'package') }
  }

  step(value: Json, applied: AppliedBy): Step {
    if (typeof value === 'string') return this.command(value, undefined)
    const object = this.object(value, 'a step', [
      'run',
      'stdin',
      'edit',
      'from',
      'to',
      'request',
      'type',
      'body',
      'apply',
    ])
    if (object['run'] !== undefined)
      return this.command(this.text(object, 'run'), this.text(object, 'stdin'))
    if (object['edit'] !== undefined)
      return {
        do: 'edit',
        object: this.text(object, 'edit'),
        from: this.text(object, 'from'),
        to: this.text(object, 'to'),
      }
    if (object['request'] !== undefined) {
      const [method = '', path = ''] = this.text(object, 'request').split(' ')
      return {
        do: 'request',
        method,
        path,
        type: this.text(object, 'type', 'json'),
        body: object['body'],
      }
    }
    if (object['apply'] === undefined) throw this.wrong('a step does nothing')
    return { do: 'apply', applied: this.applied(object['apply'], { ...applied, from: 'package' }) }
  }

  private command(line: string, stdin: string | undefined): Step {
    const [program, ...args] = wordsOf(line)
    if (program !== 'kubectl')
      throw this.wrong(`a step runs ${program ?? 'nothing'}, and only kubectl can be run`)
    return { do: 'kubectl', args, stdin }
  }

  truth(value: Json | undefined): Truth {
    if (value === 'nothing') return { drift: [], setAside: [], unproven: {}, applyRefused: [] }
    const object = this.object(value, 'expect', ['drift', 'set-aside', 'unproven', 'apply-refused'])
    const unproven = this.object(
      object['unproven'] ?? {},
      'unproven',
      Object.keys(isJsonObject(object['unproven']) ? object['unproven'] : {}),
    )
    return {
      drift: this.list(object['drift'], 'drift').map((entry) => {
        const change = this.object(entry, 'a change', [
          'object',
          'change',
          'path',
          'manager',
          'class',
          'risk',
        ])
        const text = (key: string, otherwise?: string): string => this.text(change, key, otherwise)
        return {
          object: text('object'),
          change: text('change'),
          path: text('path', ''),
          manager: text('manager'),
          class: text('class'),
          risk: text('risk'),
        }
      }),
      setAside:
        object['set-aside'] === undefined
          ? undefined
          : this.list(object['set-aside'], 'set-aside').map((entry) => {
              const aside = this.object(entry, 'set-aside', ['object', 'path', 'state', 'rule'])
              const rule = aside['rule'] === undefined ? undefined : this.text(aside, 'rule')
              return {
                object: this.text(aside, 'object'),
                path: this.text(aside, 'path', ''),
                state: this.text(aside, 'state'),
                rule,
              }
            }),
      unproven: Object.fromEntries(
        Object.keys(unproven).map((key) => [key, this.text(unproven, key)]),
      ),
      applyRefused: this.list(object['apply-refused'], 'apply-refused').map(String),
    }
  }
}

/** Words as a shell has them: parts in single or double quotes are taken as they are. */
export function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_all, single, double) => single ?? double),
  )
}
