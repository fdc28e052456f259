/**
 * secretlint's recommended rules (docs/adr/0039-what-is-a-credential.md), called directly, without
 * the asynchronous core.
 */
import { rules as untyped } from '@secretlint/secretlint-rule-preset-recommend'

interface Context {
  createTranslator(): () => object
  report(): void
  ignore(): void
}
interface Source {
  readonly content: string
  readonly filePath: string | undefined
  readonly ext: string
  readonly contentType: 'text'
  indexToPosition(): { readonly line: number }
  locationToRange(): readonly [number, number]
}
interface Rule {
  readonly meta: { readonly id: string }
  create(context: Context, options: object): { file?(source: Source): unknown }
}

/** It obeys `secretlint-disable`; a value's writer must not decide what is shown. */
const LETS_COMMENTS_DECIDE = '@secretlint/secretlint-rule-filter-comments'

let found = false
const context: Context = {
  createTranslator: () => () => ({}),
  report: () => {
    found = true
  },
  ignore: () => undefined,
}
// The package's types are in another package.
const scanners = (untyped as unknown as readonly Rule[])
  .filter(({ meta }) => meta.id !== LETS_COMMENTS_DECIDE)
  .map((rule) => rule.create(context, {}))

/** Callers limit the length, and so the time. */
export function hasLibraryFinding(content: string): boolean {
  found = false
  // One rule reads only JSON files (a service account key).
  const source: Source = {
    content,
    filePath: undefined,
    ext: /^\s*\{/.test(content) ? '.json' : '.txt',
    contentType: 'text',
    indexToPosition: () => ({ line: 1 }),
    locationToRange: () => [0, 0],
  }
  for (const scanner of scanners) {
    scanner.file?.(source)
    if (found) return true
  }
  return false
}
