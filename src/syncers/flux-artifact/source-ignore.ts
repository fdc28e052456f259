/**
 * As source-controller 1.7.0, fluxcd/pkg `sourceignore` 0.14.0 and `artifact/storage` 0.3.0, with
 * the patterns of go-git 5.16.2.
 *
 * Differences to git's patterns are in docs/facts/flux-source-ignore.md: a pattern that matches a
 * folder matches each file below it, so a later `!` re-includes a file of an excluded folder; and
 * `**` before a name matches the first folder of that name.
 */
import { convertToByteText, matchesPattern, parseWildcardPattern } from './wildcard-pattern.ts'

const IGNORE_FILE = '.sourceignore'
const VCS = ['.git/', '.gitignore', '.gitmodules', '.gitattributes']
const DEFAULT = [
  ...['*.jpg', '*.jpeg', '*.gif', '*.png', '*.wmv', '*.flv', '*.tar.gz', '*.zip'],
  ...[
    '.github/',
    '.circleci/',
    '.travis.yml',
    '.gitlab-ci.yml',
    'appveyor.yml',
    '.drone.yml',
    'cloudbuild.yaml',
  ],
  ...[
    'codeship-services.yml',
    'codeship-steps.yml',
    '**/.goreleaser.yml',
    '**/.sops.yaml',
    '**/.flux.yaml',
  ],
]
/** Go's scanner stops at a longer line. */
const LONGEST_LINE = 64 * 1024

type Segment = (name: string) => boolean

interface IgnorePattern {
  readonly title: string
  readonly domain: readonly string[]
  readonly isInclusion: boolean
  readonly isFolder: boolean
  readonly name: Segment | undefined
  readonly segments: readonly ('' | '**' | Segment)[]
}

export class SourceIgnore {
  /** Increasing priority. */
  private readonly patterns: readonly IgnorePattern[]

  /**
   * @param files `.sourceignore` texts by path from the repository root
   * @param ignore `spec.ignore` of the GitRepository
   */
  constructor(files: ReadonlyMap<string, string>, ignore: string | undefined) {
    const folders = [...files].map(([path, text]) => ({
      domain: path.split('/').slice(0, -1),
      text,
      path,
    }))
    // A folder comes before those in it.
    const own = folders
      .sort((one, other) => one.domain.length - other.domain.length)
      .flatMap(({ domain, text, path }) => readPatterns(text, domain, path))
    const given = [...own, ...readPatterns(ignore ?? '', [], 'spec.ignore')]
    this.patterns = [...VCS, ...(given.length === 0 ? DEFAULT : [])]
      .map((text) =>
        parsePattern(
          text,
          [],
          `${JSON.stringify(text)}, which source-controller leaves out by default`,
        ),
      )
      .concat(given)
  }

  has(path: string): boolean {
    return this.findExcludingPattern(path) === undefined
  }

  findExcludingPattern(path: string): string | undefined {
    const segments = path.split('/')
    const last = this.patterns.findLast((pattern) => matches(pattern, segments))
    return last === undefined || last.isInclusion ? undefined : last.title
  }
}

export function isIgnoreFile(path: string): boolean {
  return path === IGNORE_FILE || path.endsWith(`/${IGNORE_FILE}`)
}

function readPatterns(
  text: string,
  domain: readonly string[],
  place: string,
): readonly IgnorePattern[] {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => convertToByteText(line).length >= LONGEST_LINE)
  return lines
    .slice(0, end === -1 ? lines.length : end)
    .map((line, index) => ({
      line: line.replace(/\r$/, ''),
      title: `${JSON.stringify(line.trim().slice(0, 100))} in line ${index + 1} of ${place}`,
    }))
    .filter(({ line }) => !line.startsWith('#') && line.trim() !== '')
    .map(({ line, title }) => parsePattern(line, domain, title))
}

function parsePattern(line: string, domain: readonly string[], title: string): IgnorePattern {
  const isInclusion = line.startsWith('!')
  const wanted = isInclusion ? line.slice(1) : line
  const trimmed = wanted.endsWith('\\ ') ? wanted : wanted.replace(/ +$/, '')
  const isFolder = trimmed.endsWith('/')
  const text = isFolder ? trimmed.slice(0, -1) : trimmed
  const segments = text
    .split('/')
    .map((segment) =>
      segment === '' || segment === '**'
        ? segment
        : segment.includes('**')
          ? matchesNothing
          : compileSegment(segment),
    )
  return {
    title,
    domain,
    isInclusion,
    isFolder,
    name: text.includes('/') ? undefined : compileSegment(text),
    segments,
  }
}

/** A longer segment with `**` in a pattern that contains a `/`. */
const matchesNothing: Segment = () => false

function compileSegment(text: string): Segment {
  if (!/[*?[\\]/.test(text)) return (name) => name === text
  const pattern = parseWildcardPattern(convertToByteText(text))
  return (name) => pattern !== undefined && matchesPattern(pattern, convertToByteText(name))
}

function matches(
  { domain, isFolder, name, segments }: IgnorePattern,
  path: readonly string[],
): boolean {
  if (path.length <= domain.length || domain.some((folder, index) => folder !== path[index]))
    return false
  const below = path.slice(domain.length)
  if (name !== undefined) return (isFolder ? below.slice(0, -1) : below).some(name)
  const rest = findRestAfter(segments, below)
  return rest !== undefined && !(isFolder && rest === 0)
}

/** In path segments; undefined without a match. */
function findRestAfter(
  segments: IgnorePattern['segments'],
  path: readonly string[],
): number | undefined {
  let at = 0
  let isMatched = false
  let skips = false
  for (const [index, segment] of segments.entries()) {
    if (segment === '') {
      skips = false
    } else if (segment === '**') {
      if (index === segments.length - 1) break
      skips = true
    } else {
      if (at === path.length) return undefined
      const found = skips ? path.findIndex((name, position) => position >= at && segment(name)) : at
      if (found === -1) {
        isMatched = false
        at = path.length
      } else if (skips || segment(path[found] ?? '')) {
        isMatched = true
        at = found + 1
      } else return undefined
      skips = false
    }
  }
  return isMatched ? path.length - at : undefined
}
