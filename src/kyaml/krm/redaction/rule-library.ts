/**
 * Forms of credentials of a maintained library: the recommended rules of secretlint (docs/adr/0039-what-is-a-credential.md). Its asynchronous
 * core is not used; each rule is a function of one text.
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

/** The rule that obeys comments in the text (`secretlint-disable`), which is left out: the writer of a value does not decide what is shown. */
const LETS_COMMENTS_DECIDE = '@secretlint/secretlint-rule-filter-comments'

let found = false
const context: Context = {
  createTranslator: () => () => ({}),
  report: () => {
    found = true
  },
  ignore: () => undefined,
}
// The types of the package are in another package.
const scanners = (untyped as unknown as readonly Rule[])
  .filter(({ meta }) => meta.id !== LETS_COMMENTS_DECIDE)
  .map((rule) => rule.create(context, {}))

/** Whether a rule finds a credential in the text. Callers bound the length of the text, and with it the time. */
export function libraryFinds(content: string): boolean {
  found = false
  // One rule reads only JSON files (a key of a service account).
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
