import type { KrmFunction } from '../function/krm-function.ts'
import {
  compareReleases,
  formatRelease,
  hasVersionStart,
  parseConstraint,
  parseRelease,
  parseStart,
  type ReleaseVersion,
} from './release-version.ts'

interface BuiltInVariant {
  readonly from: ReleaseVersion
  readonly below: ReleaseVersion
  readonly run: KrmFunction
}

export interface BuiltIn {
  /** The first is `functions/<name>/run.ts`. */
  readonly variants: readonly [BuiltInVariant, ...BuiltInVariant[]]
  /** Built in or not. A moving tag means this one. */
  readonly newest: ReleaseVersion
  /** On gcr.io/kpt-fn, which gets no new releases. */
  readonly last: ReleaseVersion | undefined
  /** Of earlier minor versions, which get no new ones. `v0.1` means the last one. */
  readonly ended?: readonly ReleaseVersion[]
}

export type BuiltIns = ReadonlyMap<string, BuiltIn>

interface ChosenRelease {
  readonly run: KrmFunction
  readonly release: ReleaseVersion
  readonly moves: boolean
}

/**
 * A moving tag (`v0.4`, `latest`, none, a constraint) is the newest known release; kpt would run
 * what the registry or machine has. @param frozen the registry gets no new releases @returns the
 * release, or why it is not built in
 */
export function chooseRelease(
  builtIn: BuiltIn,
  tag: string | undefined,
  frozen: boolean,
): ChosenRelease | { readonly why: string } {
  const exact = parseRelease(tag ?? '')
  const newest = frozen ? (builtIn.last ?? builtIn.newest) : builtIn.newest
  const release = exact ?? findRelease(builtIn, tag ?? '', newest)
  const variant = release === undefined ? undefined : findVariant(builtIn, release)
  if (release !== undefined && variant !== undefined)
    return { run: variant.run, release, moves: exact === undefined && !frozen }
  const means =
    release === undefined || exact !== undefined ? '' : ` is now ${formatRelease(release)}, which`
  return {
    why: `${tag ?? 'no tag'}${means} is not a built-in release (${describeReleases(builtIn)})`,
  }
}

export function findNewestBuiltIn(builtIn: BuiltIn): ReleaseVersion | undefined {
  return listKnownReleases(builtIn, builtIn.newest).find(
    (release) => findVariant(builtIn, release) !== undefined,
  )
}

function findVariant({ variants }: BuiltIn, release: ReleaseVersion): BuiltInVariant | undefined {
  return variants.find(
    ({ from, below }) => compareReleases(release, from) >= 0 && compareReleases(release, below) < 0,
  )
}

function findRelease(
  builtIn: BuiltIn,
  tag: string,
  newest: ReleaseVersion,
): ReleaseVersion | undefined {
  const start = parseStart(tag)
  if (start !== undefined)
    return [newest, ...(builtIn.ended ?? [])].find((version) => hasVersionStart(version, start))
  const holds = parseConstraint(tag)
  // Not versions, such as `latest`.
  if (holds === undefined) return newest
  return listKnownReleases(builtIn, newest).find(holds)
}

/**
 * Newest first. kpt would use every patch below the last one of its minor version, built in or not.
 */
function listKnownReleases(
  { variants, ended = [] }: BuiltIn,
  newest: ReleaseVersion,
): readonly ReleaseVersion[] {
  const releases: ReleaseVersion[] = [newest, ...ended].flatMap(([major, minor, last]) =>
    Array.from({ length: last + 1 }, (_, patch): ReleaseVersion => [major, minor, patch]),
  )
  for (const { from, below } of variants) {
    const patches = below[1] > from[1] ? newest[2] : below[2] - 1
    for (let patch = from[2]; patch <= patches; patch += 1) releases.push([from[0], from[1], patch])
  }
  return releases
    .filter((release) => compareReleases(release, newest) <= 0)
    .sort((one, other) => compareReleases(other, one))
}

function describeReleases({ variants }: BuiltIn): string {
  const ranges: { from: ReleaseVersion; below: ReleaseVersion }[] = []
  for (const { from, below } of [...variants].sort((one, other) =>
    compareReleases(one.from, other.from),
  )) {
    const before = ranges.at(-1)
    if (before !== undefined && compareReleases(before.below, from) === 0) before.below = below
    else ranges.push({ from, below })
  }
  return ranges.map(describeRange).join(', ')
}

function describeRange({
  from,
  below,
}: {
  readonly from: ReleaseVersion
  readonly below: ReleaseVersion
}): string {
  const [major, minor, patch] = below
  if (patch === 0) return `from ${formatRelease(from)}, below ${formatRelease(below)}`
  const last = formatRelease([major, minor, patch - 1])
  return formatRelease(from) === last ? last : `${formatRelease(from)} to ${last}`
}
