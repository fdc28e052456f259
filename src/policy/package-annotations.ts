/**
 * Annotations of a package's objects and Kptfile, from git. One that exists only on the live object
 * is ignored; otherwise an edit of an object could hide itself. An unreadable one hides nothing and
 * is reported with its file and line.
 *
 * `backporch.dev/mode` Off on an object, any mode on a Kptfile; `backporch.dev/ignore` paths, one
 * per line or separated by commas; `backporch.dev/reason` for either, required if something is
 * hidden; `backporch.dev/expires` the last day.
 */
import type { DesiredResource } from '@backporch/kpt/desired-set'
import { getAnnotations } from '@backporch/kyaml/resource'
import { escapeGlob, findNearestNames } from '@backporch/kyaml/text'
import type { IgnoreRule, RuleLevel } from '../drift/noise/ignore-rules.ts'
import { parseRulePath, type RulePath } from '../drift/noise/rule-path.ts'
import type { EffectivePolicy } from './effective-policy.ts'
import { daySchema } from './ignore-schema.ts'
import { type Mode, modeSchema } from './schema.ts'

const PREFIX = 'backporch.dev/'
const NAMES = ['mode', 'ignore', 'reason', 'expires'] as const
type Name = (typeof NAMES)[number]

export interface PackageAnnotations {
  readonly rules: readonly IgnoreRule[]
  readonly mode: { readonly mode: Mode; readonly where: string } | undefined
  /** Sentences that begin with file and line. */
  readonly problems: readonly string[]
}

/** By path from the repository root. */
type TextOf = (path: string) => string | undefined

/** @param kptfile with its path from the repository root */
export function readPackageAnnotations(
  kptfile: { readonly path: string; readonly annotations: ReadonlyMap<string, string> },
  resources: readonly DesiredResource[],
  textOf: TextOf,
): PackageAnnotations {
  const problems: string[] = []
  const rules = resources.flatMap((resource): IgnoreRule[] => {
    const found = selectOwnAnnotations(getAnnotations(resource.object))
    if (found.size === 0) return []
    const { id, location } = resource
    const reader = new Reader(
      found,
      'object',
      { path: location.path, from: location.line, text: textOf(location.path) },
      problems,
    )
    const target = {
      group: id.group,
      kind: escapeGlob(id.kind),
      namespace: escapeGlob(id.namespace),
      name: escapeGlob(id.name),
    }
    const rule = reader.createRule(target, reader.isOff())
    return rule === undefined ? [] : [rule]
  })
  const own = selectOwnAnnotations(kptfile.annotations)
  if (own.size === 0) return { rules, mode: undefined, problems }
  const reader = new Reader(
    own,
    'package',
    { path: kptfile.path, from: 1, text: textOf(kptfile.path) },
    problems,
  )
  const rule = reader.createRule({}, false)
  return {
    rules: rule === undefined ? rules : [...rules, rule],
    mode: reader.parseMode(),
    problems,
  }
}

/**
 * The package's settings take precedence: rules of objects, of the Kptfile, of policies by
 * priority. If a policy is enforced, they are ignored.
 */
export function applyPackageAnnotations(
  policy: EffectivePolicy,
  { rules, mode }: PackageAnnotations,
): EffectivePolicy {
  if (policy.enforcedBy.length > 0) return policy
  const ignore = [...rules, ...policy.ignore]
  if (mode === undefined) return { ...policy, ignore }
  return {
    ...policy,
    ignore,
    mode: mode.mode,
    chain: [`Kptfile annotation (${mode.where})`, ...policy.chain],
  }
}

export function listOverruledAnnotations(
  { enforcedBy: [first] }: EffectivePolicy,
  { rules, mode }: PackageAnnotations,
): readonly string[] {
  if (first === undefined) return []
  const locations = [
    ...rules.map(({ where }) => where),
    ...(mode === undefined ? [] : [mode.where]),
  ]
  return [...new Set(locations)].map(
    (where) => `${where}: the annotation has no effect: ${first} is enforced`,
  )
}

/** Only the live object has them, or with another value. */
export function listLiveOnlyAnnotations(
  live: ReadonlyMap<string, string>,
  git: ReadonlyMap<string, string>,
): readonly string[] {
  return [...selectOwnAnnotations(live)]
    .flatMap(([name, value]) => (git.get(PREFIX + name) === value ? [] : [PREFIX + name]))
    .sort()
}

function selectOwnAnnotations(
  annotations: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  return new Map(
    [...annotations].flatMap(([key, value]) =>
      key.startsWith(PREFIX) ? [[key.slice(PREFIX.length), value] as const] : [],
    ),
  )
}

interface Location {
  readonly path: string
  /** Line, from 1. */
  readonly from: number
  readonly text: string | undefined
}

class Reader {
  private readonly found: ReadonlyMap<string, string>
  private readonly level: Exclude<RuleLevel, 'policy'>
  private readonly location: Location
  private readonly problems: string[]

  constructor(
    found: ReadonlyMap<string, string>,
    level: Exclude<RuleLevel, 'policy'>,
    location: Location,
    problems: string[],
  ) {
    this.found = found
    this.level = level
    this.location = location
    this.problems = problems
    for (const name of found.keys()) {
      if (NAMES.some((known) => known === name)) continue
      const [meant] = findNearestNames(name, NAMES)
      this.refuse(
        name,
        meant === undefined
          ? `unknown annotation; wanted one of ${NAMES.join(', ')}`
          : `did you mean ${PREFIX}${meant}?`,
      )
    }
  }

  createRule(target: IgnoreRule['target'], off: boolean): IgnoreRule | undefined {
    const name: Name = off ? 'mode' : 'ignore'
    const paths = off ? [] : this.parsePaths()
    if (paths === undefined || (paths.length === 0 && !off)) return undefined
    const reason = this.found.get('reason')?.trim() || undefined
    if (reason === undefined) return this.refuse(name, `it needs a ${PREFIX}reason too`)
    const expires = this.found.get('expires')
    if (expires !== undefined && !daySchema.safeParse(expires).success)
      return this.refuse('expires', 'wanted a date like 2026-12-31')
    return {
      where: this.describeLocation(name),
      level: this.level,
      target,
      paths,
      managers: [],
      reason,
      expires,
    }
  }

  isOff(): boolean {
    const mode = this.found.get('mode')
    if (mode === undefined || mode === 'Off') return mode === 'Off'
    this.refuse('mode', 'an object can only be switched Off; the other modes are for packages')
    return false
  }

  parseMode(): PackageAnnotations['mode'] {
    const mode = this.found.get('mode')
    if (mode === undefined) return undefined
    const read = modeSchema.safeParse(mode)
    return read.success
      ? { mode: read.data, where: this.describeLocation('mode') }
      : this.refuse('mode', `wanted one of ${modeSchema.options.join(', ')}`)
  }

  /** Undefined if one is unreadable: a part of the intended rules would be a guess. */
  private parsePaths(): readonly RulePath[] | undefined {
    const text = this.found.get('ignore')
    if (text === undefined) return []
    const parsed = splitPaths(text).map(parseRulePath)
    const problem = parsed.find((path) => 'problem' in path)
    if (problem !== undefined && 'problem' in problem) return this.refuse('ignore', problem.problem)
    const paths = parsed.filter((path): path is RulePath => !('problem' in path))
    return paths.length === 0 ? this.refuse('ignore', 'it names no path') : paths
  }

  private refuse(name: string, why: string): undefined {
    this.problems.push(`${this.describeLocation(name)}: ${PREFIX}${name}: ${why}; it hides nothing`)
  }

  /** The line with the annotation if the text has it literally, otherwise the object's. */
  private describeLocation(name: string): string {
    const { path, from, text = '' } = this.location
    const key = new RegExp(
      `^[^#]*\\b${PREFIX.replace('.', '\\.')}${name.replace(/[^\w-]/g, '\\$&')}["']?\\s*:`,
    )
    const index = text.split('\n').findIndex((line, at) => at >= from - 1 && key.test(line))
    return `${path}:${index === -1 ? from : index + 1}`
  }
}

function splitPaths(text: string): string[] {
  const paths = ['']
  let depth = 0
  for (const [sign] of text.matchAll(/"(?:[^"\\]|\\[\s\S])*"|[\s\S]/g)) {
    if (sign === '[') depth += 1
    if (sign === ']') depth -= 1
    if (sign === '\n' || (sign === ',' && depth <= 0)) {
      paths.push('')
      depth = 0
    } else paths[paths.length - 1] += sign
  }
  return paths.map((path) => path.trim()).filter((path) => path !== '')
}
