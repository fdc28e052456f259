import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { answerCalls, NO_FUNCTIONS } from '@backporch/kpt/function'
import {
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { getAnnotations, getMetadataText } from '@backporch/kyaml/resource'
import { runKpt, whyNoKpt, withFolder } from '../../../../test/kpt/find-kpt.ts'
import { renderPackage } from './render-package.ts'

function object(name: string, more = ''): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}`
}

function kptfile(name: string): string {
  return `apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata:\n  name: ${name}\n`
}

const LOCAL = '  annotations:\n    config.kubernetes.io/local-config: "true"\n'

/** One of everything that kpt treats in a way of its own. */
const PACKAGE: { readonly [path: string]: string } = {
  Kptfile: kptfile('made-up'),
  '.krmignore': 'ignored/\n*.draft.yaml\n',
  'README.md': '# made up\n',
  'many.yaml': `# only a comment\n---\n\n---\n${object('one')}--- # named two\n${object('two')}---\nnull\n---\n# nothing\n---\n${object('three')}---\n`,
  'windows.yaml': `\uFEFF${object('crlf-1')}---\n${object('crlf-2')}`.replaceAll('\n', '\r\n'),
  'object.json':
    '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "json"}, "data": {"a": "b"}}\n',
  'list.yaml': `apiVersion: v1\nkind: List\nmetadata:\n  name: list\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: item-1\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: item-2\n`,
  'kustomization.yaml':
    'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [many.yaml]\n',
  'local.yaml': object('local', LOCAL),
  'not-local.yaml': object('not-local', LOCAL.replace('true', 'false')),
  'a.draft.yaml': 'not: an object\n',
  'ignored/x.yaml': 'not: an object\n',
  '.hidden/h.yml': object('hidden'),
  '.hidden-file.yaml': object('hidden-file'),
  'a-b.yaml': object('a-b'),
  'a/deep/z.yaml': object('deep'),
  'sub/Kptfile': kptfile('sub'),
  'sub/.krmignore': 'skipped.yaml\n',
  'sub/skipped.yaml': object('skipped'),
  'sub/a.draft.yaml': object('sub-draft'),
  'sub/inner/Kptfile': kptfile('inner'),
  'sub/inner/i.yaml': object('inner'),
}

/** `path index name` of what kpt gives, without what it never applies. */
function readByKpt(folder: string): readonly string[] {
  const { ok, stdout, stderr } = runKpt(folder, 'fn', 'source', '.')
  assert.ok(ok, stderr)
  const list = parseGoYaml(stdout, 'kpt').documents[0]?.value as JsonObject
  const items = getKey(list, 'items')
  assert.ok(isJsonArray(items))
  return items.filter(isJsonObject).flatMap((item) => {
    const annotations = getAnnotations(item)
    if (item['kind'] === 'Kptfile' || item['kind'] === 'Kustomization') return []
    if ((annotations.get('config.kubernetes.io/local-config') ?? 'false') !== 'false') return []
    const location = `${annotations.get('internal.config.kubernetes.io/path')} ${annotations.get('internal.config.kubernetes.io/index')}`
    const inner = getKey(item, 'items')
    const objects: readonly Json[] = item['kind'] === 'List' && isJsonArray(inner) ? inner : [item]
    return objects
      .filter(isJsonObject)
      .map((each) => `${location} ${getMetadataText(each, 'name')}`)
  })
}

describe('renderPackage and real kpt', { skip: whyNoKpt() }, () => {
  it('read the same objects, in the same order, from the same files and documents', () => {
    const files = Object.entries(PACKAGE).map(([path, text]) => ({
      path,
      mode: '100644' as const,
      content: new TextEncoder().encode(text),
    }))
    const rendering = answerCalls(renderPackage('', files), NO_FUNCTIONS)
    assert.ok('desired' in rendering)
    const ours = rendering.desired.resources.map(
      ({ id, location }) => `${location.path} ${location.document} ${id.name}`,
    )
    assert.deepEqual(ours, withFolder(PACKAGE, readByKpt))
    assert.equal(ours.length, 15)
  })

  it('both accept the package as valid', () => {
    withFolder(PACKAGE, (folder) => {
      const { ok, stderr } = runKpt(folder, 'fn', 'render', '.')
      assert.ok(ok, stderr)
      const tree = runKpt(folder, 'pkg', 'tree', '.')
      assert.ok(tree.ok, tree.stderr)
      assert.match(tree.stdout, /Package "sub"/)
    })
  })

  const refused: readonly (readonly [string, { readonly [path: string]: string }])[] = [
    ['an unknown field', { Kptfile: `${kptfile('x')}pipline: {}\n` }],
    ['a duplicate key', { Kptfile: `${kptfile('x')}info: {}\ninfo: {}\n` }],
    ['an old version', { Kptfile: kptfile('x').replace('v1', 'v1alpha1') }],
    ['another kind', { Kptfile: kptfile('x').replace('Kptfile', 'KptFile') }],
    [
      'a timestamp in a condition',
      {
        Kptfile: `${kptfile('x')}status:\n  conditions:\n    - {type: A, status: "True", lastTransitionTime: now}\n`,
      },
    ],
    [
      'image and exec',
      { Kptfile: `${kptfile('x')}pipeline:\n  mutators:\n    - {image: a, exec: b}\n` },
    ],
    [
      'neither image nor exec',
      { Kptfile: `${kptfile('x')}pipeline:\n  mutators:\n    - {name: a}\n` },
    ],
    [
      'an invalid image',
      { Kptfile: `${kptfile('x')}pipeline:\n  mutators:\n    - {image: Bad Image}\n` },
    ],
    [
      'a config outside the package',
      {
        Kptfile: `${kptfile('x')}pipeline:\n  mutators:\n    - {image: a, configPath: ../a.yaml}\n`,
      },
    ],
    [
      'an absolute config path',
      { Kptfile: `${kptfile('x')}pipeline:\n  mutators:\n    - {image: a, configPath: /a.yaml}\n` },
    ],
    [
      'a missing config',
      { Kptfile: `${kptfile('x')}pipeline:\n  mutators:\n    - {image: a, configPath: a.yaml}\n` },
    ],
    [
      'two configs',
      {
        'a.yaml': object('a'),
        Kptfile: `${kptfile('x')}pipeline:\n  mutators:\n    - {image: a, configPath: a.yaml, configMap: {a: b}}\n`,
      },
    ],
    [
      'a subpackage with an unknown field',
      { Kptfile: kptfile('x'), 'sub/Kptfile': `${kptfile('y')}notes: x\n` },
    ],
    ['an empty name', { Kptfile: kptfile('""'), 'a.yaml': object('a') }],
    [
      'an object without apiVersion',
      { Kptfile: kptfile('x'), 'a.yaml': 'kind: ConfigMap\nmetadata: {name: a}\n' },
    ],
    [
      'an object without name',
      {
        Kptfile: kptfile('x'),
        'a.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {labels: {a: b}}\n',
      },
    ],
    ['invalid YAML', { Kptfile: kptfile('x'), 'a.yaml': 'a: [\n' }],
    [
      'text after a separator',
      { Kptfile: kptfile('x'), 'a.yaml': `${object('a')}--- b\n${object('c')}` },
    ],
  ]
  /** Whether we render the package, and whether kpt does. */
  function rendered(files: { readonly [path: string]: string }): readonly [boolean, boolean] {
    const given = Object.entries(files).map(([path, text]) => ({
      path,
      mode: '100644' as const,
      content: new TextEncoder().encode(text),
    }))
    const own = answerCalls(renderPackage('', given), NO_FUNCTIONS)
    return ['desired' in own, withFolder(files, (folder) => runKpt(folder, 'fn', 'render', '.').ok)]
  }

  for (const [name, files] of refused)
    it(`both reject ${name}`, () => {
      assert.deepEqual(rendered(files), [false, false])
    })

  it('both accept any non-empty name, and any upstream', () => {
    for (const name of ['Policy Blog Resources', 'basens-AA', '../x', '" "', '12'])
      assert.deepEqual(
        rendered({ Kptfile: kptfile(name), 'a.yaml': object('a') }),
        [true, true],
        name,
      )
    for (const git of [
      { repo: 'sso://team/r', ref: 'main' },
      { repo: 'https://ada@example.com/r', ref: '--upload-pack=x' },
    ]) {
      const upstream = `upstream:\n  type: git\n  git: ${JSON.stringify({ directory: '/', ...git })}\n`
      assert.deepEqual(
        rendered({ Kptfile: kptfile('x'), 'sub/Kptfile': `${kptfile('y')}${upstream}` }),
        [true, true],
        git.repo,
      )
    }
  })
})
