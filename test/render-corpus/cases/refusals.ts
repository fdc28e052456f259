import { configMap, kptfile, mutated, type RenderCase } from '../render-case.ts'

const refuses = (
  name: string,
  about: string,
  refused: string,
  kptfileText: string,
  more: RenderCase['files'] = {},
): RenderCase => ({
  name: `refused-${name}`,
  about,
  refused,
  files: { Kptfile: kptfileText, 'a.yaml': configMap('a', 'data:   {a: b}\n'), ...more },
})
const unreadable = (name: string, about: string, refused: string, bad: string): RenderCase =>
  refuses(name, about, refused, mutated('{exec: corpus-identity}'), { 'bad.yaml': bad })

/** What kpt refuses, and with which words. Nothing is written then. */
export const refusals: readonly RenderCase[] = [
  {
    name: 'refused-no-kptfile',
    about: 'A folder with a Kptfile below it and none of its own.',
    refused: 'No Kptfile found at "<package>"',
    files: { 'a.yaml': configMap('a'), 'child/Kptfile': kptfile('', 'child') },
  },
  refuses(
    'function-fails',
    'A function with an exit code and a result.',
    '[error] v1/ConfigMap/a data.a: not good',
    mutated('{exec: corpus-fail, configMap: {message: not good, name: a}}'),
  ),
  refuses(
    'function-without-its-config',
    'upsert-resource without a config.',
    'functionConfig is missing',
    mutated('{exec: upsert-resource}'),
  ),
  refuses(
    'function-with-a-bad-config',
    'apply-replacements with a ConfigMap.',
    '[FAIL] "apply-replacements"',
    mutated('{exec: apply-replacements, configMap: {a: b}}'),
  ),
  refuses(
    'labels-null',
    'set-labels where labels are null.',
    '[FAIL] "set-labels"',
    mutated('{exec: set-labels, configMap: {a: b}}'),
    {
      'b.yaml': configMap('b', '  labels:\n'),
    },
  ),
  refuses(
    'second-function-fails',
    'The first has run; nothing is written.',
    '[FAIL] "corpus-fail"',
    mutated(
      '{exec: set-labels, configMap: {a: b}}',
      '{exec: corpus-fail}',
      '{exec: set-labels, configMap: {c: d}}',
    ),
  ),
  refuses(
    'function-not-found',
    'No such program.',
    'executable file not found in $PATH',
    mutated('{exec: no-such-function}'),
  ),
  refuses(
    'setter-without-a-value',
    'apply-setters does not know a value it needs.',
    '[FAIL] "apply-setters"',
    mutated('{exec: apply-setters, configMap: {a: b}}'),
    {
      'b.yaml': configMap('b', `data:\n  x: one # kpt-set: \${a}-\${b}\n`),
    },
  ),
  refuses(
    'config-missing',
    'No file at configPath.',
    'functionConfig must exist in the current package',
    mutated('{exec: set-labels, configPath: missing.yaml}'),
  ),
  refuses(
    'config-of-the-child',
    'A config in a subpackage.',
    'functionConfig must exist in the current package',
    mutated('{exec: set-labels, configPath: child/labels.yaml}'),
    {
      'child/Kptfile': kptfile('', 'child'),
      'child/labels.yaml': configMap('labels', 'data:\n  a: b\n'),
    },
  ),
  refuses(
    'config-outside',
    'configPath leaves the package.',
    'path must not be outside the package',
    mutated('{exec: set-labels, configPath: ../a.yaml}'),
  ),
  refuses(
    'config-outside-by-a-detour',
    'The same, hidden behind a folder.',
    'path must not be outside the package',
    mutated('{exec: set-labels, configPath: x/../../a.yaml}'),
  ),
  refuses(
    'config-absolute',
    'An absolute configPath.',
    'path must be relative',
    mutated('{exec: set-labels, configPath: /a.yaml}'),
  ),
  refuses(
    'config-two-documents',
    'Two objects in the config.',
    'functionConfig "two.yaml" must not contain more than one config, got 2',
    mutated('{exec: set-labels, configPath: two.yaml}'),
    {
      'two.yaml': `${configMap('b')}---\n${configMap('c')}`,
    },
  ),
  refuses(
    'config-no-resource',
    'A config that is no Kubernetes object.',
    'functionConfig "plain.yaml": resource must have `apiVersion`',
    mutated('{exec: set-labels, configPath: plain.yaml}'),
    {
      '.krmignore': 'plain.yaml\n',
      'plain.yaml': 'a: b\n',
    },
  ),
  refuses(
    'image-and-exec',
    'Both image and exec.',
    'must not specify both `image` and `exec` at the same time',
    mutated('{exec: set-labels, image: set-labels}'),
  ),
  refuses(
    'neither-image-nor-exec',
    'Neither of them.',
    'must specify a functon (`image` or `exec`) to execute',
    mutated('{configMap: {a: b}}'),
  ),
  refuses(
    'config-map-and-path',
    'Both kinds of config.',
    'functionConfig must not specify both `configMap` and `configPath` at the same time',
    mutated('{exec: set-labels, configMap: {a: b}, configPath: a.yaml}'),
  ),
  refuses(
    'config-map-nested',
    'A configMap with a map in it.',
    'cannot unmarshal !!map into string',
    mutated('{exec: set-labels, configMap: {a: {b: c}}}'),
  ),
  refuses(
    'kptfile-unknown-field',
    'A field that Kptfiles do not have.',
    'field pipline not found in type v1.KptFile',
    kptfile('pipline: {}\n'),
  ),
  refuses(
    'kptfile-unknown-field-of-a-function',
    'The same in a function.',
    'field wen not found in type v1.Function',
    mutated('{exec: set-labels, wen: always, configMap: {a: b}}'),
  ),
  refuses(
    'kptfile-old',
    'An old apiVersion.',
    'has an old version ("v1alpha2") of the Kptfile schema',
    kptfile().replace('kpt.dev/v1', 'kpt.dev/v1alpha2'),
  ),
  refuses(
    'kptfile-of-a-child',
    'A bad Kptfile in a subpackage.',
    'field pipline not found in type v1.KptFile',
    mutated('{exec: set-labels, configMap: {a: b}}'),
    { 'child/Kptfile': kptfile('pipline: {}\n') },
  ),
  refuses(
    'same-place',
    'A function makes an object at a place that is taken.',
    'resource at path "a.yaml" and index "0" already exists',
    mutated('{exec: corpus-create, configMap: {name: b, path: a.yaml, index: "0"}}'),
  ),
  refuses(
    'same-place-twice-new',
    'Two new objects in one file, both without an index.',
    'resource at path "new.yaml" and index "" already exists',
    mutated(
      '{exec: corpus-create, configMap: {name: b, path: new.yaml}}',
      '{exec: corpus-create, configMap: {name: c, path: x/../new.yaml}}',
    ),
  ),
  refuses(
    'same-place-by-annotation',
    'set-annotations sends two objects to one place.',
    'resource at path "one.yaml" and index "0" already exists',
    mutated('{exec: set-annotations, configMap: {internal.config.kubernetes.io/path: one.yaml}}'),
    {
      'b.yaml': configMap('b'),
    },
  ),
  refuses(
    'same-place-seen-by-the-next',
    'Two objects sent to one place by the legacy annotation, and a function after that.',
    'resource at path "one.yaml" and index "0" already exists',
    mutated(
      '{exec: set-annotations, configMap: {config.kubernetes.io/path: one.yaml}, selectors: [{kind: ConfigMap}]}',
      '{exec: corpus-identity}',
    ),
    { 'b.yaml': configMap('b') },
  ),
  refuses(
    'outside-the-package',
    'A function moves an object out of the package.',
    'function must not modify resources outside of package: resource has path ../out.yaml',
    mutated('{exec: corpus-move, configMap: {name: a, path: ../out.yaml}}'),
  ),
  refuses(
    'outside-the-package-cleaned',
    'The same, after a detour.',
    'resource has path x/../../out.yaml',
    mutated('{exec: corpus-create, configMap: {name: b, path: x/../../out.yaml}}'),
  ),
  refuses(
    'outside-the-child',
    'A function of a subpackage writes into its parent.',
    'resource has path ../up.yaml',
    kptfile(),
    {
      'child/Kptfile': mutated(
        '{exec: corpus-create, configMap: {name: b, path: ../up.yaml}}',
      ).replace('root', 'child'),
    },
  ),
  refuses(
    'path-is-the-folder-above',
    'A path of two dots only.',
    'resource must be written under package',
    mutated('{exec: corpus-create, configMap: {name: b, path: ..}}'),
  ),
  refuses(
    'path-is-a-folder',
    'A path where a folder is.',
    'config.kubernetes.io/path cannot be a directory: folder',
    mutated('{exec: corpus-create, configMap: {name: b, path: folder}}'),
    { 'folder/b.yaml': configMap('b') },
  ),
  refuses(
    'both-paths-differ',
    'A function sets both path annotations to different paths.',
    'path',
    mutated('{exec: corpus-move, configMap: {name: a, path: b.yaml, other: c.yaml}}'),
  ),
  refuses(
    'output-no-resource',
    'A function makes an object without a name.',
    'output resource list must contain only KRM resources',
    mutated('{exec: corpus-create, configMap: {kind: Thing}}'),
  ),
  unreadable('yaml-broken', 'A bracket that is not closed.', 'MalformedYAMLError', 'a: [\n'),
  unreadable(
    'yaml-tab',
    'A tab as indentation.',
    'found character that cannot start any token',
    'a:\n\tb: c\n',
  ),
  unreadable(
    'yaml-alias',
    'An alias without its anchor.',
    "unknown anchor 'x' referenced",
    configMap('bad', 'data: *x\n'),
  ),
  unreadable(
    'yaml-second-document',
    'Broken in the second document.',
    'MalformedYAMLError',
    `${configMap('fine')}---\na: b: c\n`,
  ),
  unreadable(
    'separator',
    'Text behind a separator.',
    'invalid document separator: --- text',
    `${configMap('fine')}--- text\na: b\n`,
  ),
  unreadable(
    'directive',
    'A YAML directive: kpt splits the file before it reads it.',
    'did not find expected <document start>',
    `%YAML 1.1\n---\n${configMap('directive')}`,
  ),
  unreadable(
    'text',
    'A text instead of an object.',
    'expected MappingNode but got ScalarNode',
    'only words\n',
  ),
  unreadable(
    'no-api-version',
    'No apiVersion.',
    'input resource list must contain only KRM resources: bad.yaml: resource must have `apiVersion`',
    'kind: ConfigMap\nmetadata:\n  name: bad\n',
  ),
  unreadable(
    'no-kind',
    'No kind.',
    'bad.yaml: resource must have `kind`',
    'apiVersion: v1\nmetadata:\n  name: bad\n',
  ),
  unreadable(
    'no-name',
    'No name.',
    'bad.yaml: resource must have `metadata.name`',
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  generateName: bad-\n',
  ),
  unreadable(
    'list-kind',
    'A List without a name.',
    'bad.yaml: resource must have `metadata.name`',
    'apiVersion: v1\nkind: List\nitems: []\n',
  ),
  unreadable(
    'bare-list',
    'A list of objects.',
    'bad.yaml: resource must have `apiVersion`',
    `- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: in-list\n`,
  ),
  refuses(
    'no-resource-without-a-pipeline',
    'A file that is no object, in a package without a pipeline.',
    'values.yaml: resource must have `apiVersion`',
    kptfile(),
    { 'values.yaml': 'a: b\n' },
  ),
  refuses(
    'no-resource-in-a-child',
    'The same in a subpackage.',
    'values.yaml: resource must have `apiVersion`',
    mutated('{exec: set-labels, configMap: {a: b}}'),
    {
      'child/Kptfile': kptfile('', 'child'),
      'child/values.yaml': 'a: b\n',
    },
  ),
]
