/**
 * Tags, and constraints in `tag`, which kpt accepts from 1.0.0-beta.62 on
 * (github.com/Masterminds/semver/v3, without pre-releases).
 */

export type ReleaseVersion = readonly [number, number, number]

/** `v0.4` is `[0, 4]`. */
type VersionStart = readonly number[]

export function parseRelease(text: string): ReleaseVersion | undefined {
  const [major, minor, patch, ...more] = parseStart(text) ?? []
  return major === undefined || minor === undefined || patch === undefined || more.length > 0
    ? undefined
    : [major, minor, patch]
}

export function parseStart(text: string): VersionStart | undefined {
  const parts = /^v?(0|[1-9]\d{0,8})(?:\.(0|[1-9]\d{0,8}))?(?:\.(0|[1-9]\d{0,8}))?$/.exec(text)
  return parts?.slice(1).flatMap((part) => (part === undefined ? [] : [Number(part)]))
}

export function hasVersionStart(version: ReleaseVersion, start: VersionStart): boolean {
  return start.every((part, index) => version[index] === part)
}

export function compareReleases(one: ReleaseVersion, other: ReleaseVersion): number {
  return one[0] - other[0] || one[1] - other[1] || one[2] - other[2]
}

export function formatRelease(version: ReleaseVersion): string {
  return `v${version.join('.')}`
}

type VersionConstraint = (version: ReleaseVersion) => boolean

const TERM = /^(=|==|!=|>|<|>=|=>|<=|=<|~|~>|\^)?\s*(v?[0-9xX*]+(?:\.[0-9xX*]+){0,2})$/

/** `>=0.4.1 <0.5`, `~0.4`, `^0.2.0`, `0.4.x`, `0.1 - 0.3`, joined by `||`. */
export function parseConstraint(text: string): VersionConstraint | undefined {
  const alternatives = text.split('||').map(parseTerms)
  const known = alternatives.filter((each) => each !== undefined)
  return known.length < alternatives.length
    ? undefined
    : (version) => known.some((holds) => holds(version))
}

function parseTerms(text: string): VersionConstraint | undefined {
  const range = /^\s*(\S+)\s+-\s+(\S+)\s*$/.exec(text)
  const spelled = range === null ? text : `>=${range[1]} <=${range[2]}`
  const terms = spelled
    .replace(/([=!<>~^])\s+/g, '$1')
    .split(/[\s,]+/)
    .filter((term) => term !== '')
    .map(parseTerm)
  const known = terms.filter((term) => term !== undefined)
  return terms.length === 0 || known.length < terms.length
    ? undefined
    : (version) => known.every((holds) => holds(version))
}

function parseTerm(text: string): VersionConstraint | undefined {
  const [, sign = '=', written = ''] = TERM.exec(text) ?? []
  const start =
    parseStart(written.replace(/(\.?[xX*])+$/, '') || '*') ??
    (/^[xX*]/.test(written) ? [] : undefined)
  if (start === undefined) return undefined
  const from: ReleaseVersion = [start[0] ?? 0, start[1] ?? 0, start[2] ?? 0]
  const order = (version: ReleaseVersion): number =>
    hasVersionStart(version, start) ? 0 : compareReleases(version, from)
  switch (sign) {
    case '!=':
      return (version) => order(version) !== 0
    case '>':
      return (version) => order(version) > 0
    case '<':
      return (version) => compareReleases(version, from) < 0
    case '>=':
    case '=>':
      return (version) => compareReleases(version, from) >= 0
    case '<=':
    case '=<':
      return (version) => order(version) <= 0
    case '~':
    case '~>':
      return (version) =>
        compareReleases(version, from) >= 0 && hasVersionStart(version, start.slice(0, 2))
    case '^': {
      // Up to the first non-zero part.
      const first = start.findIndex((part) => part !== 0)
      const retained = start.slice(0, first === -1 ? start.length : first + 1)
      return (version) => compareReleases(version, from) >= 0 && hasVersionStart(version, retained)
    }
    default:
      return (version) => hasVersionStart(version, start)
  }
}
