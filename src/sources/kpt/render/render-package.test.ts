import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { formatFailure } from '@backporch/kyaml/failure'
import { formatNoteSentence } from '@backporch/kyaml/note'
import { failures, KPTFILE, render } from '../../../../test/fakes/rendered-package.ts'
import type { RenderedPackage } from './render-package.ts'

function object(name: string, more = ''): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${more}`
}

/** `name path:line (document,item)` */
function locations({ desired }: RenderedPackage): readonly string[] {
  return desired.resources.map(
    ({ id, location: { path, line, document, item } }) =>
      `${id.name} ${path}:${line} (${document},${item ?? '-'})`,
  )
}

describe('renderPackage', () => {
  it('reads every manifest, including hidden, JSON and subpackage files, with its location', () => {
    const files = {
      'b.yaml': `# about b\n\n${object('b')}`,
      'a.yml': object('a'),
      'j.json': '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "j"}}',
      '.hidden/h.yaml': object('h'),
      'sub/Kptfile': KPTFILE,
      'sub/s.yaml': object('s'),
      'README.md': 'kind: Nothing',
      'UPPER.YAML': object('upper'),
    }
    assert.deepEqual(locations(render(files)), [
      'h apps/web/.hidden/h.yaml:1 (0,-)',
      'a apps/web/a.yml:1 (0,-)',
      'b apps/web/b.yaml:3 (0,-)',
      'j apps/web/j.json:1 (0,-)',
      's apps/web/sub/s.yaml:1 (0,-)',
    ])
  })

  it('numbers documents like kpt: empty and comment-only ones have no number', () => {
    const text = `# only a comment\n---\n\n---\n${object('one')}---\n# nothing\n---\n${object('two')}---\n`
    assert.deepEqual(locations(render({ 'm.yaml': text })), [
      'one apps/web/m.yaml:5 (0,-)',
      'two apps/web/m.yaml:12 (1,-)',
    ])
  })

  it('expands the items of a list', () => {
    const list =
      'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n'
    assert.deepEqual(locations(render({ 'l.yaml': `${object('x')}---\n${list}` })), [
      'x apps/web/l.yaml:1 (0,-)',
      'a apps/web/l.yaml:9 (1,0)',
      'b apps/web/l.yaml:12 (1,1)',
    ])
    assert.deepEqual(locations(render({ 'l.yaml': 'apiVersion: v1\nkind: List\nitems:\n' })), [])
  })

  it('does not compare objects with generated names, and adds a note', () => {
    const job = 'apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: migrate-}\n'
    const rendered = render({ 'a.yaml': `${object('a')}---\n${job}` })
    assert.deepEqual(locations(rendered), ['a apps/web/a.yaml:1 (0,-)'])
    assert.match(
      rendered.desired.notes.map(formatNoteSentence).join(),
      /a\.yaml:\d+: the Job with generateName "migrate-" gets another name at each create/,
    )
  })

  it('rejects a list inside a list', () => {
    const list = 'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items: []\n'
    assert.deepEqual(
      failures({ 'l.yaml': list }).map(({ code, where }) => [code, where]),
      [['BP1112', 'apps/web/l.yaml:4:3']],
    )
  })

  it('omits local config, unless the value is false', () => {
    const local = (value: string) =>
      `  annotations:\n    config.kubernetes.io/local-config: ${value}\n`
    const files = {
      'a.yaml': object('a', local('"true"')),
      'b.yaml': object('b', local('"no"')),
      'c.yaml': object('c', local('""')),
      'd.yaml': object('d', local('"false"')),
      'e.yaml': object('e', local('true')),
      'l.yaml': `apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: i, annotations: {config.kubernetes.io/local-config: "true"}}\n`,
    }
    assert.deepEqual(
      render(files).desired.resources.map(({ id }) => id.name),
      ['d'],
    )
  })

  it('omits kustomize input, but not a Kustomization of Flux', () => {
    const flux =
      'apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: flux\n'
    const files = {
      'kustomization.yaml': 'resources: [a.yaml]\n',
      'x/kustomization.yml': 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n',
      'k.yaml': 'kind: Kustomization\n',
      'component.yaml': 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n',
      'y/kustomization.yaml': flux,
    }
    assert.deepEqual(
      render(files).desired.resources.map(({ id }) => id.name),
      ['flux'],
    )
  })

  it('obeys .krmignore', () => {
    const files = {
      '.krmignore': 'draft.yaml\n',
      'draft.yaml': 'not: an object\n',
      'a.yaml': object('a'),
    }
    assert.deepEqual(
      render(files).desired.resources.map(({ id }) => id.name),
      ['a'],
    )
  })

  it('excludes Backporch records from a package that is the whole repository', () => {
    const files = { '.drift/policy.yaml': 'kind: DriftPolicy\n', 'a.yaml': object('a') }
    assert.deepEqual(locations(render(files, '')), ['a a.yaml:1 (0,-)'])
    assert.equal(failures(files).length, 1)
  })

  it('reads CRLF and a byte order mark', () => {
    const text = `\uFEFF${object('a')}---\n${object('b')}`.replaceAll('\n', '\r\n')
    assert.deepEqual(locations(render({ 'w.yaml': text })), [
      'a apps/web/w.yaml:1 (0,-)',
      'b apps/web/w.yaml:6 (1,-)',
    ])
  })

  it('keeps an object without namespace as written', () => {
    assert.equal(render({ 'a.yaml': object('a') }).desired.resources[0]?.id.namespace, '')
  })

  it('throws for no metadata, and passes unusual metadata to the function unchanged', () => {
    const pipeline = `${KPTFILE}pipeline:\n  mutators:\n    - image: set-labels\n`
    for (const odd of ['annotations: 0', 'annotations: [a]', 'annotations: ~', 'labels: text']) {
      const text = failures({ Kptfile: pipeline, 'a.yaml': object('a', `  ${odd}\n`) })
      assert.deepEqual(
        text.map(({ code }) => code),
        ['BP1201'],
        odd,
      )
    }
  })

  it('never skips an unsupported mutator, also in a subpackage', () => {
    const pipeline = `${KPTFILE}pipeline:\n  mutators:\n    - image: set-labels\n`
    assert.equal(render({}).desired.pipeline, 'none')
    assert.deepEqual(
      failures({ Kptfile: pipeline }).map(({ code, where }) => `${code} ${where}`),
      ['BP1201 apps/web/Kptfile:7 (mutator 1, set-labels)'],
    )
    assert.match(
      failures({ 'sub/Kptfile': pipeline })[0]?.what ?? '',
      /^RuntimeMissing\(set-labels\)/,
    )
    assert.equal(render({ Kptfile: `${KPTFILE}pipeline: {}\n` }).desired.pipeline, 'none')
  })

  it('skips links, submodules and LFS pointers, with notes', () => {
    const files = {
      'link.yaml': { mode: '120000' as const, text: '../../secret.yaml' },
      vendor: { mode: '160000' as const },
      'big.yaml': 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n',
      dirlink: { mode: '120000' as const, text: 'other' },
      'more/there.yaml': object('there', ''),
      'again.yaml': { mode: '120000' as const, text: './more/there.yaml' },
    }
    const { desired, unread } = render(files)
    assert.deepEqual(
      desired.resources.map(({ id }) => id.name),
      ['there'],
    )
    assert.deepEqual(unread, ['apps/web/big.yaml', 'apps/web/link.yaml', 'apps/web/vendor'])
    assert.equal(desired.notes.length, 4)
    assert.deepEqual(desired.notes[2], {
      cause: 'file-not-read',
      subject: 'apps/web/link.yaml',
      text: 'a symbolic link is not followed',
    })
  })

  it('names the keys, but not the values, of a plain-text Secret, also in local config (C33)', () => {
    const secret = (more: string) =>
      `apiVersion: v1\nkind: Secret\nmetadata:\n  name: s\n${more}stringData:\n  password: hunter2canary\n  empty: ""\n`
    const { desired } = render({
      'a.yaml': secret(''),
      'b.yaml': secret('  annotations: {config.kubernetes.io/local-config: "true"}\n'),
      'c.yaml': `${secret('').replace('name: s', 'name: sealed')}sops: {version: "3"}\n`,
    })
    assert.deepEqual(
      desired.notes.map(formatNoteSentence),
      ['a', 'b'].map(
        (name) =>
          `apps/web/${name}.yaml:1: Secret s has its values in git in plain text: stringData.password`,
      ),
    )
    assert.equal(desired.resources.length, 2)
  })

  it('passes notes about surprising scalars on, without the values', () => {
    const { desired } = render({ 'a.yaml': object('a', 'data:\n  legacy: no\n') })
    assert.equal(desired.notes.length, 1)
    assert.equal(desired.notes[0]?.subject, 'apps/web/a.yaml:6:11')
  })
})

describe('the failures of renderPackage', () => {
  it('give file, document, item and line of a document that is not an object', () => {
    const text = failures({
      'a.yaml': `${object('ok')}---\nkind: ConfigMap\nmetadata:\n  name: x\n`,
      'b.yaml': '- a\n- b\n',
      'd.yaml': 'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n',
      'e.yaml': 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: x\n  namespace: 12\n',
    })
    assert.deepEqual(
      text.map(({ code, where, why }) => [code, where, why]),
      [
        ['BP1112', 'apps/web/a.yaml:6 (document 2)', 'apiVersion is missing'],
        [
          'BP1112',
          'apps/web/b.yaml:1 (document 1)',
          'wanted a mapping with apiVersion, kind and metadata.name',
        ],
        ['BP1112', 'apps/web/d.yaml:4 (document 1, item 1)', 'metadata.name is missing'],
        ['BP1112', 'apps/web/e.yaml:1 (document 1)', 'metadata.namespace is not a text'],
      ],
    )
  })

  it('give both locations of an object that is declared twice, also in different versions', () => {
    const scaler = (version: string) =>
      `apiVersion: autoscaling/${version}\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: web\n  namespace: shop\n`
    const [failure, ...others] = failures({
      'a.yaml': scaler('v1'),
      'sub/b.yaml': `# second\n${scaler('v2')}`,
    })
    assert.deepEqual(others, [])
    assert.equal(failure?.code, 'BP1113')
    assert.equal(failure?.where, 'apps/web/sub/b.yaml:2 (document 1)')
    assert.equal(
      failure?.why,
      'HorizontalPodAutoscaler shop/web is also declared at apps/web/a.yaml:1 (document 1)',
    )
  })

  it('are returned all at once, in the order of the files', () => {
    const message = failures({
      'z.yaml': object('twice'),
      'a.yaml': object('twice'),
      'b.yaml': 'a: [\n',
      'sub/Kptfile': 'kind: Kptfile\n',
      Kptfile: `${KPTFILE}pipline: {}\n`,
    })
    assert.deepEqual(
      message.map(({ code, where }) => `${code} ${where?.replace(/:.*/, '')}`),
      [
        'BP1103 apps/web/Kptfile',
        'BP1110 apps/web/b.yaml',
        'BP1101 apps/web/sub/Kptfile',
        'BP1113 apps/web/z.yaml',
      ],
    )
    assert.match(message[1]?.where ?? '', /^apps\/web\/b\.yaml:\d+:\d+$/)
  })

  it('name a function config that is missing, a link, duplicate, or not an object (C12, C13)', () => {
    const Kptfile = `${KPTFILE}pipeline:\n  mutators:\n${['gone', 'link', 'two', 'rubbish', 'broken', 'good'].map((name) => `    - {image: a, configPath: ./${name}.yaml}\n`).join('')}`
    const printed = failures({
      Kptfile,
      '.krmignore': '*.yaml\n!good.yaml\n',
      'link.yaml': { mode: '120000', text: '/etc/passwd' },
      'two.yaml': `${object('a')}---\n${object('b')}`,
      'rubbish.yaml': 'a: b\n',
      'broken.yaml': 'a: [\n',
      'good.yaml': object('good'),
    })
    assert.deepEqual(
      printed.map(({ code, where, why }) => `${code} ${where} ${why.split(': ')[1]}`),
      [
        'BP1104 apps/web/Kptfile:7 the file is not in the package',
        'BP1104 apps/web/Kptfile:8 the file is a link, which may leave the package',
        'BP1104 apps/web/Kptfile:9 the file has 2 documents, wanted one',
        'BP1104 apps/web/Kptfile:10 the file is not a Kubernetes object',
        'BP1104 apps/web/Kptfile:11 the file is not valid YAML',
      ],
    )
  })

  it('include a package deeper than 64 folders, with the location (C17)', () => {
    const at = (depth: number): string => `${'d/'.repeat(depth)}a.yaml`
    assert.deepEqual(failures({ [at(64)]: object('a') }), [])
    const [failure, ...others] = failures({ [at(1_000)]: object('a') })
    assert.deepEqual([failure?.code, others.length], ['BP1111', 0])
    assert.match(failure?.why ?? '', /nested more than 64 deep/)
  })

  it('include a missing Kptfile, and one that is only a link', () => {
    assert.deepEqual(
      failures({ Kptfile: { mode: '120000', text: '../Kptfile' } }).map(({ code }) => code),
      ['BP1004'],
    )
  })

  it('quote nothing of an unreadable file', () => {
    const output = failures({
      'secret.yaml': 'apiVersion: v1\nkind: Secret\nstringData:\n  password: "hunter2canary\n',
    })
    assert.equal(output.length, 1)
    assert.equal(output.map(formatFailure).join().includes('canary'), false)
  })
})

describe('the inventory of a package', () => {
  const group = (name: string) =>
    `apiVersion: kpt.dev/v1alpha1\nkind: ResourceGroup\nmetadata:\n  name: ${name}\n  namespace: shop\n  labels:\n    cli-utils.sigs.k8s.io/inventory-id: id-1\n`
  const inKptfile = `${KPTFILE}inventory: {namespace: shop, name: inventory-2, inventoryID: id-2}\n`

  it('is the ResourceGroup of the package, which is not one of its resources', () => {
    const { desired } = render({ 'resourcegroup.yaml': group('inventory-1') })
    assert.deepEqual(desired.inventory, { namespace: 'shop', name: 'inventory-1', id: 'id-1' })
    assert.deepEqual([desired.resources, desired.notes], [[], []])
  })

  it('is that of the Kptfile when there is no ResourceGroup', () => {
    assert.deepEqual(render({ Kptfile: inKptfile }).desired.inventory, {
      namespace: 'shop',
      name: 'inventory-2',
      id: 'id-2',
    })
    assert.equal(render({}).desired.inventory, undefined)
  })

  it('is undefined if the package has two', () => {
    for (const files of [
      { 'a.yaml': group('a'), 'b.yaml': group('b') },
      { Kptfile: inKptfile, 'a.yaml': group('a') },
    ]) {
      const { desired } = render(files)
      assert.equal(desired.inventory, undefined)
      assert.match(desired.notes[0]?.text ?? '', /"kpt live" refuses that/)
    }
  })

  it('does not come from a subpackage', () => {
    const files = { 'sub/Kptfile': KPTFILE, 'sub/resourcegroup.yaml': group('inner') }
    assert.equal(render(files).desired.inventory, undefined)
    assert.deepEqual(
      render({ ...files, 'resourcegroup.yaml': group('own') }).desired.inventory?.name,
      'own',
    )
  })
})
