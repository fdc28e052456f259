import { configMap, kptfile, mutated, type RenderCase, text } from '../render-case.ts'

const labels = mutated('{exec: set-labels, configMap: {app: web}}')

/** Which files are read, and what becomes of those that hold no object, several, or something else. */
export const files: readonly RenderCase[] = [
  {
    name: 'files-names',
    about:
      'By name: .yaml, .yml, .json and Kptfile, also hidden and in hidden folders; nothing else.',
    files: {
      Kptfile: labels,
      'a.yaml': configMap('a'),
      'b.yml': configMap('b'),
      'c.json': '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}\n',
      'd.YAML': configMap('d'),
      'e.yaml.txt': configMap('e'),
      '.hidden.yaml': configMap('hidden'),
      '.folder/f.yaml': configMap('f'),
      yaml: configMap('no-ending'),
      'README.md': '# Nothing   to see\n',
      'script.sh': '#!/bin/sh\necho   a\n',
      'very/deep/folder/of/four/g.yaml': configMap('g'),
      'with space/h i.yaml': configMap('h'),
      'größe.yaml': configMap('i'),
    },
  },
  {
    name: 'files-order',
    about:
      'The order of the walk: a folder before a file of the same beginning, capitals before small letters.',
    files: {
      Kptfile: mutated('{exec: corpus-number}'),
      'a/z.yaml': configMap('a-z'),
      'a-b.yaml': configMap('a-b'),
      'a.yaml': configMap('a'),
      'B.yaml': configMap('b'),
      'Z/a.yaml': configMap('z-a'),
      '_.yaml': configMap('underscore'),
      '0.yaml': configMap('zero'),
      'k.yaml': `${configMap('k1')}---\n${configMap('k2')}`,
      'a/b/c.yaml': configMap('a-b-c'),
      'a/b.yaml': configMap('a-b-file'),
    },
  },
  {
    name: 'files-json',
    about:
      'JSON comes out sorted and indented by two; more than one object, or a YAML in it, as YAML.',
    files: {
      Kptfile: labels,
      'one.json':
        '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one","annotations":{"z":"1","a":"<b>&c"}},"data":{"n":"1","text":"line\\nline","unicode":"é😀"}}',
      'numbers.json':
        '{\n    "apiVersion": "example.com/v1",\n    "kind": "Thing",\n    "metadata": {"name": "numbers"},\n    "spec": {"int": 1, "float": 1.50, "exp": 1e3, "big": 12345678901234567890, "neg": -0.0, "t": true, "n": null, "e": "", "l": [], "m": {}, "list": [1, "a", {"b": 2}]}\n}\n',
      'yaml-inside.json': configMap('yaml', 'data:\n  a: 1 # c\n'),
      'two.json':
        '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two-a"}}\n---\n{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "two-b"}}\n',
    },
  },
  {
    name: 'files-json-untouched-by-functions',
    about: 'The same files without a pipeline.',
    files: {
      Kptfile: kptfile(),
      'one.json':
        '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"one"},"data":{"n":"1","h":"<a href=\\"x\\">&</a>"}}',
      'pretty.json':
        '{\n  "apiVersion": "v1",\n  "data": {},\n  "kind": "ConfigMap",\n  "metadata": {\n    "name": "pretty"\n  }\n}\n',
    },
  },
  {
    name: 'files-empty-documents',
    about:
      'Documents without an object vanish from a file that has one; a file without any stays as it is.',
    files: {
      Kptfile: labels,
      'empty.yaml': '',
      'blank.yaml': '\n\n',
      'separators.yaml': '---\n---\n---\n',
      'comments.yaml': '# only\n---\n# comments\n',
      'null.yaml': 'null\n',
      'mixed.yaml': `---\n---\n# nothing\n---\n${configMap('first')}---\n\n---\nnull\n---\n~\n---\n${configMap('second')}---\n# the end\n`,
    },
  },
  {
    name: 'files-separators',
    about:
      'Separators with spaces, comments and at the very beginning; dashes inside a text; the end of a document.',
    files: {
      Kptfile: labels,
      'spaces.yaml': `---   \n${configMap('one')}---\t\n${configMap('two')}--- # comment\n${configMap('three')}`,
      'dashes.yaml': configMap(
        'dashes',
        'data:\n  text: |\n    a\n    ---\n    b\n  more: "---"\n',
      ),
      'dots.yaml': `${configMap('dots')}...\n`,
      'dots-and-more.yaml': `${configMap('kept')}...\n---\n${configMap('also-kept')}`,
      'four.yaml': `${configMap('four-a')}----: x\n`,
    },
    refused: 'invalid document separator: ----: x',
  },
  {
    name: 'files-separators-fine',
    about: 'The same without the line that kpt takes for a broken separator.',
    files: {
      Kptfile: labels,
      'spaces.yaml': `---   \n${configMap('one')}---\t\n${configMap('two')}--- # comment\n${configMap('three')}`,
      'dashes.yaml': configMap(
        'dashes',
        'data:\n  text: |\n    a\n    ---\n    b\n  more: "---"\n',
      ),
      'dots.yaml': `${configMap('dots')}...\n`,
      'dots-and-more.yaml': `${configMap('kept')}...\n---\n${configMap('also-kept')}`,
    },
  },
  {
    name: 'files-krmignore',
    about: 'Ignored files and folders are not read and not written, whatever is in them.',
    files: {
      Kptfile: labels,
      '.krmignore': 'ignored.yaml\nfolder/\n/top.yaml\n*.gen.yaml\n# a comment\n\n',
      'ignored.yaml': 'not:   krm\n',
      'deep/ignored.yaml': '[broken\n',
      'folder/a.yaml': configMap('a'),
      'x/folder/b.yaml': configMap('b'),
      'top.yaml': configMap('top'),
      'x/top.yaml': configMap('x-top'),
      'y.gen.yaml': configMap('gen'),
      'read.yaml': configMap('read'),
    },
  },
  {
    name: 'files-krmignore-in-subpackages',
    about: 'Rules of a package do not reach into its subpackages, which have their own.',
    files: {
      Kptfile: labels,
      '.krmignore': 'skip.yaml\nhidden/\n',
      'skip.yaml': configMap('skip'),
      'sub/Kptfile': kptfile('', 'sub'),
      'sub/skip.yaml': configMap('sub-skip'),
      'sub/other.yaml': configMap('other'),
      'second/Kptfile': kptfile('', 'second'),
      'second/.krmignore': 'other.yaml\n',
      'second/skip.yaml': configMap('second-skip'),
      'second/other.yaml': configMap('second-other'),
      'hidden/Kptfile': kptfile('pipeline: {}\n', 'hidden'),
      'hidden/a.yaml': configMap('hidden-a'),
    },
  },
  {
    name: 'files-kustomization',
    about: 'Kustomization files need no name; values files that are ignored are left alone.',
    files: {
      Kptfile: labels,
      'kustomization.yaml': 'resources:\n  - a.yaml\n# why\nnamePrefix:   x-\n',
      'b/kustomization.yml': 'resources: [a.yaml]\n',
      'c/Kustomization': 'resources:   []\n',
      'd/other.yaml':
        'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Component\nresources:\n- x\n',
      'a.yaml': configMap('a'),
      '.krmignore': 'values.yaml\n',
      'values.yaml': 'image:   web\n',
    },
  },
  {
    name: 'files-kustomization-untouched',
    about: 'Kustomization files in a package without a pipeline.',
    files: {
      Kptfile: kptfile(),
      'kustomization.yaml': 'resources:\n    - a.yaml\nmetadata:\n  name: x\n',
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'files-list-kind',
    about: 'A kind List with a name is one object.',
    files: {
      Kptfile: labels,
      'list.yaml': text`
        apiVersion: v1
        kind: List
        metadata:
          name: several
        items:
        - apiVersion: v1
          kind: ConfigMap
          metadata:
            name: inner
        - apiVersion: v1
          kind: ConfigMap
          metadata:
            name: other
      `,
    },
  },
  {
    name: 'files-local-config',
    about: 'Objects marked local-config: who skips them, and with which value.',
    files: {
      Kptfile: mutated(
        '{exec: set-labels, configMap: {app: web}}',
        '{exec: set-annotations, configMap: {owner: a}}',
        '{exec: set-namespace, configMap: {namespace: shop}}',
        '{exec: ensure-name-substring, configMap: {prepend: pre-}}',
      ),
      'true.yaml': configMap(
        'local',
        '  annotations:\n    config.kubernetes.io/local-config: "true"\n',
      ),
      'false.yaml': configMap(
        'not-local',
        '  annotations:\n    config.kubernetes.io/local-config: "false"\n',
      ),
      'other.yaml': configMap('odd', '  annotations:\n    config.kubernetes.io/local-config: x\n'),
      'plain.yaml': configMap('plain'),
    },
  },
]
