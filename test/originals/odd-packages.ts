/** Small packages of odd objects, the same ones in every run. */
import { ODD_DOCUMENTS, ODD_KUSTOMIZATIONS } from './odd-documents.ts'

/** Texts of files by path, without a Kptfile. */
export interface OddPackage {
  readonly [path: string]: string
}

/** A number from 0, below `count`. */
export type Choose = (count: number) => number

/** Equal seeds choose equally: mulberry32 (public domain). Not for secrets. */
export function chooserOf(seed: number): Choose {
  let state = seed
  return (count) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % count
  }
}

/** One to three files with one to three objects each, sometimes with a kustomization. Each document is in the package once. */
export function oddPackage(choose: Choose): OddPackage {
  const left = ODD_DOCUMENTS.map((_, index) => index)
  const files: Record<string, string> = {}
  for (const path of ['one.yaml', 'sub/two.yaml', 'three.yml'].slice(0, 1 + choose(3))) {
    const documents = Array.from(
      { length: 1 + choose(3) },
      () => ODD_DOCUMENTS[left.splice(choose(left.length), 1)[0] ?? 0] ?? '',
    )
    files[path] = documents.map((text) => rewritten(text, choose)).join('---\n')
  }
  if (choose(6) === 0)
    files['kustomization.yaml'] = ODD_KUSTOMIZATIONS[choose(ODD_KUSTOMIZATIONS.length)] ?? ''
  return files
}

type Rewriting = (text: string) => string

/** Other ways to write the same object, or nearly the same. */
const REWRITINGS: readonly Rewriting[] = [
  (text) => text.replace(/^( *)name: ([a-z][a-z-]*)$/m, '$1name: "$2"'),
  (text) => text.replace(/^( *)namespace: dev$/m, "$1namespace: 'dev'"),
  (text) => text.replace(/^( *)namespace: dev$/m, '$1namespace: dev # where'),
  (text) => text.replace(/^ *namespace: dev\n/m, ''),
  (text) =>
    /^ {2}annotations:/m.test(text)
      ? text
      : text.replace(
          /^metadata:$/m,
          'metadata:\n  annotations:\n    owner: "value" # kpt-set: ${value}',
        ),
  (text) => `# first line\n\n${text}`,
  (text) => text.replace(/^(metadata|spec|data):$/m, '\n$1:'),
  (text) => text.replaceAll('namespace: dev', 'namespace: prod'),
]

function rewritten(text: string, choose: Choose): string {
  return choose(3) === 0 ? (REWRITINGS[choose(REWRITINGS.length)]?.(text) ?? text) : text
}
