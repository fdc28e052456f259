import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runKpt, whyNoKpt, withFolder } from '../../../test/kpt/find-kpt.ts'
import { walkPackage } from './walk-package.ts'

function object(name: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n`
}

function kptfile(name: string): string {
  return `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`
}

const MANIFESTS = [
  'a.yaml',
  'x.yaml',
  'o.yaml',
  'o/x.yaml',
  'o/y.yaml',
  'n/a.yaml',
  'n/in/x.yaml',
  'n/in/y.yaml',
  'sub/a.yaml',
  'sub/x.yaml',
  'subab/a.yaml',
]
const OTHERS = [
  'subab/x.yaml',
  '.drift/d.yaml',
  '.hidden.yml',
  'j.json',
  'x/dir/a.yaml',
  'dir/a.yaml',
  'a/b/c/z.yaml',
  'UP.YAML',
  '#x.yaml',
  '[b.yaml',
  'keep.yaml',
]

const TREE: { readonly [path: string]: string } = {
  ...Object.fromEntries(
    [...MANIFESTS, ...OTHERS].map((path, index) => [path, object(`n${index}`)]),
  ),
  ...Object.fromEntries(
    ['', 'n/', 'n/in/', 'sub/'].map((folder, index) => [`${folder}Kptfile`, kptfile(`p${index}`)]),
  ),
  'n/in/.krmignore': 'o\n',
}

const PATTERNS: readonly string[] = [
  '',
  'a.yaml',
  '/a.yaml',
  'dir/a.yaml',
  '/dir/a.yaml',
  'x.yaml\nsubab\n.drift/\n!keep.yaml',
  'n/in\nsub',
  'n/in/',
  '/n/*.yaml',
  '**/a.yaml',
  'a/**/c',
  'a/*/c',
  '/a/b',
  '\\#x.yaml\no/\n!y.yaml',
  '#x.yaml',
  'a.yaml \r\n\tx.yaml\n[no].yaml',
  '[^no].yaml',
  '[a-o].yaml',
  '[b.yaml',
  '[',
  '?.yaml',
  '*',
  '*\n!keep.yaml\n!o',
  '*.yaml\n!/keep.yaml',
  'Kptfile',
  'sub/Kptfile',
  '.krmignore',
  'j.json',
  '*.y*ml',
  '  x.yaml  ',
  'o//x.yaml',
  './x.yaml',
  'x.yaml/',
]

/** Paths of what `kpt fn source` gives, in its order. */
function readByKpt(folder: string): readonly string[] {
  const { ok, stdout, stderr } = runKpt(folder, 'fn', 'source', '.')
  assert.ok(ok, stderr)
  const paths = [...stdout.matchAll(/internal\.config\.kubernetes\.io\/path: '([^']*)'/g)].map(
    ([, path]) => path ?? '',
  )
  return paths.filter((path, index) => paths.indexOf(path) === index)
}

describe('walkPackage and real kpt', { skip: whyNoKpt() }, () => {
  for (const ignore of PATTERNS) {
    for (const inSubpackage of ['', 'a.yaml\n']) {
      it(`read the same files under ${JSON.stringify(ignore)}${inSubpackage === '' ? '' : ' and a subpackage with its own'}`, () => {
        const files = {
          ...TREE,
          '.krmignore': `${ignore}\n`,
          ...(inSubpackage === '' ? {} : { 'sub/.krmignore': inSubpackage }),
        }
        const walked = walkPackage(
          Object.keys(files),
          (path) => files[path as keyof typeof files] ?? '',
        )
        const ours = walked.filter((path) =>
          /(?:\.yaml|\.yml|\.json|^Kptfile|\/Kptfile)$/.test(path),
        )
        assert.deepEqual(ours, withFolder(files, readByKpt))
      })
    }
  }
})
