/** The policy that decides about one unit, and the chain that led to it. */
import type { Resolution } from '../drift/drift.ts'
import type { IgnoreRule } from '../drift/ignore-rules.ts'
import type { Policy, PolicySet } from './parse-policy.ts'
import type { Mode } from './schema.ts'

export interface EffectivePolicy {
  readonly name: string
  /** `path:line` of the deciding policy; undefined for the shipped default. */
  readonly place: string | undefined
  readonly mode: Mode
  readonly settle: 'syncer' | 'backporch'
  readonly defaultPlan: Resolution
  /** Field manager of the syncer; undefined: found from the objects. */
  readonly fieldManager: string | undefined
  /** Seconds. */
  readonly closeSilence: number
  /** Seconds. */
  readonly verifyTimeout: number
  readonly ignore: readonly IgnoreRule[]
  /** Matching policies, the deciding one first: `policy/prod (.drift/policy.yaml:8)`; the shipped default last. */
  readonly chain: readonly string[]
}

const DAY = 86_400

export const DEFAULT_POLICY: EffectivePolicy = {
  name: 'default',
  place: undefined,
  mode: 'Warn',
  settle: 'syncer',
  defaultPlan: 'Restore',
  fieldManager: undefined,
  closeSilence: 30 * DAY,
  verifyTimeout: 600,
  ignore: [],
  chain: ['shipped default (Warn)'],
}

/** Each setting comes from the matching policy of the highest priority that gives it; ignore rules of all of them hold. */
export function effectivePolicy(set: PolicySet, cluster: string, packagePath: string): EffectivePolicy {
  const matching = set.policies
    .filter(
      ({ document }) => matches(document.spec.match?.clusters, cluster, '*') && matches(document.spec.match?.packages, packagePath, '/'),
    )
    .sort((left, right) => priorityOf(right) - priorityOf(left) || (left.document.metadata.name < right.document.metadata.name ? -1 : 1))
  const specs = matching.map(({ document }) => document.spec)
  const silence = specs.find((spec) => spec.decide?.closeSilence !== undefined)?.decide?.closeSilence
  const verify = specs.find((spec) => spec.decide?.verifyTimeout !== undefined)?.decide?.verifyTimeout
  return {
    name: matching[0]?.document.metadata.name ?? DEFAULT_POLICY.name,
    place: matching[0]?.where,
    mode: specs.find((spec) => spec.mode !== undefined)?.mode ?? DEFAULT_POLICY.mode,
    settle: specs.find((spec) => spec.settle !== undefined)?.settle ?? DEFAULT_POLICY.settle,
    defaultPlan: specs.find((spec) => spec.decide?.defaultPlan !== undefined)?.decide?.defaultPlan ?? DEFAULT_POLICY.defaultPlan,
    fieldManager: specs.find((spec) => spec.fieldManager !== undefined)?.fieldManager,
    closeSilence: silence === undefined ? DEFAULT_POLICY.closeSilence : secondsOf(silence),
    verifyTimeout: verify === undefined ? DEFAULT_POLICY.verifyTimeout : secondsOf(verify),
    ignore: matching.flatMap(({ ignore }) => ignore),
    chain: [...matching.map(({ document, where }) => `policy/${document.metadata.name} (${where})`), ...DEFAULT_POLICY.chain],
  }
}

/** Packages that a placement puts into the cluster, none where no placement names it; undefined when there is no placement at all. */
export function placedPackages(set: PolicySet, cluster: string, packages: readonly string[]): readonly string[] | undefined {
  if (set.placements.length === 0) return undefined
  const here = set.placements.filter(({ spec }) => matches(spec.clusters, cluster, '*'))
  return packages.filter((path) => here.some(({ spec }) => matches(spec.packages, path, '/')))
}

function priorityOf({ document }: Policy): number {
  return document.spec.priority ?? 0
}

/** Whole minutes, hours or days as seconds. The text was checked by the schema. */
export function secondsOf(duration: string): number {
  const unit = { m: 60, h: 3600, d: DAY }[duration.at(-1) as 'm' | 'h' | 'd']
  return Number(duration.slice(0, -1)) * unit
}

/** `*` is any text of one segment (`/`) or of the whole name (`*`), `**` any segments. */
function matches(globs: readonly string[] | undefined, text: string, separator: '/' | '*'): boolean {
  if (globs === undefined) return true
  return globs.some((glob) => (separator === '*' ? matchText(glob, text) : matchSegments(glob, text)))
}

function matchSegments(glob: string, path: string): boolean {
  return matchParts(glob.split('/'), path.split('/'), '**', matchText)
}

function matchText(glob: string, text: string): boolean {
  return matchParts([...glob], [...text], '*', (part, character) => part === character)
}

/** Without backtracking over more than the last star: at most the product of the two lengths, whatever was written. */
function matchParts(
  glob: readonly string[],
  parts: readonly string[],
  any: string,
  matchOne: (glob: string, part: string) => boolean,
): boolean {
  let [at, place, star, mark] = [0, 0, -1, 0]
  for (let part = parts[at]; part !== undefined; part = parts[at]) {
    const wanted = glob[place]
    if (wanted === any) [star, mark, place] = [place, at, place + 1]
    else if (wanted !== undefined && matchOne(wanted, part)) [at, place] = [at + 1, place + 1]
    else if (star !== -1) [mark, at, place] = [mark + 1, mark + 1, star + 1]
    else return false
  }
  while (glob[place] === any) place += 1
  return place === glob.length
}
