/** Values of which a function writes only a part, and the manifest the rest. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { adopted, changeIn, refused } from '../../../../test/fakes/adoption-samples.ts'
import { CATALOG, webKptfile } from '../../../../test/fakes/pipeline-files.ts'

const LOCAL = '  annotations:\n    config.kubernetes.io/local-config: "true"\n'
const ADMIN = 'subjects[0].name'

function configMap(name: string, data: string): string {
  return `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n${LOCAL}data:\n  ${data}\n`
}

/** The name of the context is the part of the group's name at `index`. */
function withGroup(
  group: string,
  { delimiter = '.', index = 0, release = 'v0.1.1' } = {},
): { readonly [path: string]: string } {
  return {
    Kptfile: webKptfile(
      `    - image: ${CATALOG}/apply-replacements:${release}\n      configPath: replace.yaml\n`,
    ),
    'context.yaml': configMap('context', 'name: example'),
    'other.yaml': configMap('other', 'name: example'),
    'replace.yaml': `apiVersion: fn.kpt.dev/v1alpha1
kind: ApplyReplacements
metadata:
  name: replace
${LOCAL}replacements:
  - source: {kind: ConfigMap, name: other, fieldPath: data.name}
    targets:
      - select: {kind: Service}
        fieldPaths: [spec.externalName]
        options: {delimiter: ., index: 0}
  - source: {kind: ConfigMap, name: context, fieldPath: data.name}
    targets:
      - select: {kind: RoleBinding}
        fieldPaths: ["subjects.[kind=Group].name"]
        options: {delimiter: "${delimiter}", index: ${index}}
`,
    'rolebinding.yaml': `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: app-admin
subjects:
  - apiGroup: rbac.authorization.k8s.io
    kind: Group
    name: ${group} # the admins
`,
  }
}

function adoptedGroup(
  files: { readonly [path: string]: string },
  live: string,
): { readonly [path: string]: readonly string[] } {
  return adopted(files, changeIn(files, 'RoleBinding', ADMIN, live))
}

for (const release of ['v0.1.1', 'v0.1.2'])
  test(`edits the part that a replacement of ${release} does not write in the manifest`, () => {
    assert.deepEqual(
      adoptedGroup(withGroup('example.admin@bigco.com', { release }), 'example.ops@bigco.com'),
      {
        'apps/web/rolebinding.yaml': [
          '-    name: example.admin@bigco.com # the admins',
          '+    name: example.ops@bigco.com # the admins',
        ],
      },
    )
    assert.deepEqual(
      adoptedGroup(withGroup('example-cluster', { release, delimiter: '-' }), 'example-cluster-2'),
      {
        'apps/web/rolebinding.yaml': [
          '-    name: example-cluster # the admins',
          '+    name: example-cluster-2 # the admins',
        ],
      },
    )
  })

test('edits a replaced part in its source and the rest in the manifest, if both drifted', () => {
  const files = withGroup('example.admin@bigco.com')
  assert.deepEqual(adoptedGroup(files, 'other.ops@bigco.com'), {
    'apps/web/context.yaml': ['-  name: example', '+  name: other'],
    'apps/web/rolebinding.yaml': [
      '-    name: example.admin@bigco.com # the admins',
      '+    name: other.ops@bigco.com # the admins',
    ],
  })
})

test('edits an atomic list in the manifest when a replacement writes another part of its item', () => {
  const files = withGroup('example.admin@bigco.com')
  const subject = {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'Group',
    name: 'example.ops@bigco.com',
  }
  assert.deepEqual(adopted(files, changeIn(files, 'RoleBinding', 'subjects', [subject])), {
    'apps/web/rolebinding.yaml': [
      '-    name: example.admin@bigco.com # the admins',
      '+    name: example.ops@bigco.com # the admins',
    ],
  })
})

test('edits the text around a search-replace match with groups in the manifest', () => {
  const files = {
    Kptfile: webKptfile(`    - image: ${CATALOG}/search-replace:v0.2.0
      configMap: {by-path: data.url, by-value-regex: "(.*)://[a-z]+[.](.*)", put-value: "\${1}://shop.\${2}"}
`),
    'config.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  url: http://shop.example.com\n',
  }
  assert.deepEqual(
    adopted(files, changeIn(files, 'ConfigMap', 'data.url', 'https://shop.example.com')),
    {
      'apps/web/config.yaml': [
        '-  url: http://shop.example.com',
        '+  url: https://shop.example.com',
      ],
    },
  )
  const { where, why } = refused(
    files,
    changeIn(files, 'ConfigMap', 'data.url', 'http://store.example.com'),
  )
  assert.equal(where, 'apps/web/Kptfile:7 (mutator 1, search-replace)')
  assert.match(
    why,
    /^search-replace writes the field, and the written value cannot be traced back to its config$/,
  )
})

test('rejects a live value without the part that the replacement writes, and names the function', () => {
  const files = withGroup('ops.example', { index: 1 })
  const { why } = refused(files, changeIn(files, 'RoleBinding', ADMIN, 'ops'))
  assert.match(
    why,
    /: the last function that writes it is apps\/web\/Kptfile:7 \(mutator 1, apply-replacements\)$/,
  )
})

test('leaves an unapplied object that feeds no part of the value unchanged', () => {
  const files = { ...withGroup('a.example.x', { index: 1 }) }
  const three = {
    ...files,
    'replace.yaml': `${files['replace.yaml']}  - source: {kind: ConfigMap, name: first, fieldPath: data.name}
    targets:
      - select: {kind: RoleBinding}
        fieldPaths: ["subjects.[kind=Group].name"]
        options: {delimiter: ., index: 0}
`,
    'first.yaml': configMap('first', 'name: a'),
  }
  assert.deepEqual(adoptedGroup(three, 'b.other.y'), {
    'apps/web/context.yaml': ['-  name: example', '+  name: other'],
    'apps/web/first.yaml': ['-  name: a', '+  name: b'],
    'apps/web/rolebinding.yaml': [
      '-    name: a.example.x # the admins',
      '+    name: b.other.y # the admins',
    ],
  })
})
