/**
 * Forms of credentials that a maintained library knows: the recommended rules of secretlint (docs/adr/0039-what-is-a-credential.md). Its core is
 * asynchronous and is not used: each rule of text is a function of one text, which reports at once.
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

/** Takes back what comments in the text ask for (`secretlint-disable`): who writes a value does not decide that it is shown. */
const LETS_COMMENTS_DECIDE = '@secretlint/secretlint-rule-filter-comments'

let found = false
const context: Context = {
  createTranslator: () => () => ({}),
  report: () => {
    found = true
  },
  ignore: () => undefined,
}
// The types of the package come from another one, which has nothing else for us.
const scanners = (untyped as unknown as readonly Rule[])
  .filter(({ meta }) => meta.id !== LETS_COMMENTS_DECIDE)
  .map((rule) => rule.create(context, {}))

/** Whether a rule finds a credential in the text. The time is that of the text's length: callers bound it. */
export function libraryFinds(content: string): boolean {
  found = false
  // JSON is the only kind of file that a rule reads as such (a key of a service account).
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
