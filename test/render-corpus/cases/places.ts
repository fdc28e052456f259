import { configMap, kptfile, mutated, type RenderCase, text } from '../render-case.ts'

const annotated = (name: string, annotations: readonly string[]): string =>
  configMap(name, `  annotations:\n${annotations.map((each) => `    ${each}\n`).join('')}`)

const byPeople = `${annotated('a', ['config.kubernetes.io/path: other.yaml', 'config.kubernetes.io/index: "7"'])}---
${annotated('b', ['internal.config.kubernetes.io/path: other.yaml', 'x: y'])}---
${annotated('c', [
  'internal.config.kubernetes.io/id: "9"',
  'config.k8s.io/id: "9"',
  'internal.config.kubernetes.io/package-path: /elsewhere',
  'internal.config.kubernetes.io/annotations-migration-resource-id: "2"',
  'internal.config.kubernetes.io/seqindent: wide',
  'internal.config.kubernetes.io/other: kept',
])}list:
- a
---
${annotated('d', ['internal.config.kubernetes.io/index: "0" # mine'])}`

/** Where an object is written: what annotations say, what functions make, move, rename and delete. */
export const locations: readonly RenderCase[] = [
  {
    name: 'place-by-people',
    about: 'Annotations that people wrote for path and index count for nothing and are removed.',
    files: { Kptfile: kptfile(), 'a.yaml': byPeople },
  },
  {
    name: 'place-by-people-through-a-function',
    about: 'The same through a function.',
    files: { Kptfile: mutated('{exec: set-labels, configMap: {a: b}}'), 'a.yaml': byPeople },
  },
  {
    name: 'place-emptied-annotations',
    about: 'What is left empty by the removal goes: annotations, then metadata.',
    files: {
      Kptfile: mutated('{exec: corpus-identity}'),
      'a.yaml': configMap('a', '  annotations: {}\n'),
      'b.yaml': configMap('b', '  annotations:\n'),
      'c.yaml': configMap(
        'c',
        '  annotations: # why\n    # because\n    config.kubernetes.io/index: "1" # one\n  labels: {}\n',
      ),
      'kustomization.yaml': 'resources: []\nmetadata: {}\n',
    },
  },
  {
    name: 'place-emptied-annotations-untouched',
    about: 'The same without a function.',
    files: {
      Kptfile: kptfile(),
      'a.yaml': configMap('a', '  annotations: {}\n'),
      'b.yaml': configMap('b', '  annotations:\n'),
      'c.yaml': configMap(
        'c',
        '  annotations: # why\n    # because\n    config.kubernetes.io/index: "1" # one\n  labels: {}\n',
      ),
      'kustomization.yaml': 'resources: []\nmetadata: {}\n',
    },
  },
  {
    name: 'place-made-without-a-path',
    about: 'An object without a path gets a file named for its namespace, kind and name.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-create, configMap: {name: plain}}',
        '{exec: corpus-create, configMap: {name: spaced, namespace: shop}}',
        '{exec: corpus-create, configMap: {name: "Odd.Name", kind: ThingKind}}',
      ),
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'place-made-at-a-path',
    about:
      'Objects made in a new file, behind those of a file that is there, between them, and far behind.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-create, configMap: {name: fresh, path: new/file.yaml}}',
        '{exec: corpus-create, configMap: {name: behind, path: a.yaml}}',
        '{exec: corpus-create, configMap: {name: far, path: a.yaml, index: "9"}}',
        '{exec: corpus-create, configMap: {name: third, path: a.yaml, index: "2"}}',
      ),
      'a.yaml': `${configMap('zero')}---\n${configMap('one')}`,
    },
  },
  {
    name: 'place-made-in-odd-files',
    about: 'Files of other endings, an absolute path, a path with dots in it.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-create, configMap: {name: text, path: notes.txt}}',
        '{exec: corpus-create, configMap: {name: json, path: made.json}}',
        '{exec: corpus-create, configMap: {name: absolute, path: /abs/made.yaml}}',
        '{exec: corpus-create, configMap: {name: dotted, path: ./x/../y/made.yaml}}',
      ),
    },
  },
  {
    name: 'place-moved',
    about:
      'Moves by the legacy annotation, by the internal one, and by both; the emptied file goes.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-move, configMap: {name: legacy, path: q/legacy.yaml, by: legacy}}',
        '{exec: corpus-move, configMap: {name: internal, path: q/internal.yaml, by: internal}}',
        '{exec: corpus-move, configMap: {name: both, path: q/both.yaml}}',
      ),
      'a.yaml': `# head\n${configMap('legacy', 'list:\n  - a # wide\n')}---\n${configMap('stays')}`,
      'b.yaml': configMap('internal'),
      'c.yaml': configMap('both'),
    },
  },
  {
    name: 'place-moved-into-one-file',
    about: 'Objects of two files in one, in the order of their index.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-move, configMap: {name: b, path: one.yaml, index: "2"}}',
        '{exec: corpus-move, configMap: {name: a, path: one.yaml, index: "1"}}',
        '{exec: corpus-move, configMap: {name: c, path: one.yaml, index: "10"}}',
      ),
      'a.yaml': configMap('a', 'list:\n  - wide\n'),
      'b.yaml': configMap('b', 'list:\n- compact\n'),
      'c.yaml': configMap('c'),
    },
  },
  {
    name: 'place-index-changed',
    about: 'Objects of a file change their order by their index only.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-move, configMap: {name: first, index: "5"}}',
        '{exec: corpus-reverse}',
      ),
      'a.yaml': `${configMap('first')}---\n${configMap('second')}---\n${configMap('third')}`,
    },
  },
  {
    name: 'place-moved-by-set-annotations',
    about: 'set-annotations with the path annotation moves a whole selection.',
    files: {
      Kptfile: mutated(
        '{exec: set-annotations, configMap: {internal.config.kubernetes.io/path: all.yaml}, selectors: [{kind: Service}]}',
      ),
      'a.yaml': `${configMap('a')}---\napiVersion: v1\nkind: Service\nmetadata:\n  name: s\n`,
    },
  },
  {
    name: 'place-shared-by-the-legacy-annotation',
    about:
      'Two objects sent to one place by the legacy annotation: only a later function would be refused.',
    files: {
      Kptfile: mutated(
        '{exec: set-annotations, configMap: {config.kubernetes.io/path: one.yaml}, selectors: [{kind: ConfigMap}]}',
      ),
      'a.yaml': configMap('a'),
      'b.yaml': configMap('b'),
    },
  },
  {
    name: 'place-stripped',
    about: 'A function that drops all annotations: the object is taken for a new one.',
    files: {
      Kptfile: mutated('{exec: corpus-strip, configMap: {name: a}}'),
      'x/a.yaml': `# head\n${configMap('a', 'data:\n  k: v # line\nlist:\n  - wide\n')}---\n${configMap('b')}`,
    },
  },
  {
    name: 'place-deleted',
    about: 'The first, the last and the only object of a file deleted.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-delete, configMap: {name: first}}',
        '{exec: corpus-delete, configMap: {name: last}}',
        '{exec: corpus-delete, configMap: {name: only}}',
      ),
      'a.yaml': `# file head\n\n# of first\n${configMap('first')}---\n# of middle\n${configMap('middle')}---\n${configMap('last')}# end\n`,
      'folder/only.yaml': configMap('only'),
    },
  },
  {
    name: 'place-everything-deleted',
    about: 'A function that gives back nothing deletes every file with an object, the Kptfile too.',
    weRefuse: 'a function that prints nothing would delete the whole package',
    files: {
      Kptfile: mutated('{exec: corpus-empty}', '{exec: corpus-identity}'),
      'a.yaml': configMap('a'),
      'b.txt': 'stays\n',
      'sub/Kptfile': kptfile('', 'sub'),
      'sub/empty.yaml': '# stays\n',
    },
  },
  {
    name: 'place-upserted',
    about:
      'upsert-resource without a match: where the new object lands, with a target path and without.',
    files: {
      Kptfile: mutated(
        '{exec: upsert-resource, configPath: functions/wanted.yaml}',
        '{exec: upsert-resource, configPath: placed.yaml}',
        '{exec: corpus-number}',
      ),
      'functions/wanted.yaml': text`
        # all that is wanted
        apiVersion: v1
        kind: List
        metadata:
          name: all
          annotations:
            config.kubernetes.io/local-config: "true"
        items:
          # wanted
          - apiVersion: v1
            kind: Secret
            metadata:
              name: wanted
            stringData:
              a: b # c
            list:
              - d
      `,
      'placed.yaml': text`
        apiVersion: v1
        kind: Secret
        metadata:
          name: placed
          namespace: shop
          annotations:
            config.kubernetes.io/target-path: target/placed.yaml
      `,
    },
  },
  {
    name: 'place-renamed',
    about: 'A rename leaves an object in its file, whatever the file is called.',
    files: {
      Kptfile: mutated(
        '{exec: ensure-name-substring, configMap: {prepend: new-}}',
        '{exec: set-namespace, configMap: {namespace: shop}}',
      ),
      'configmap_a.yaml': configMap('a', '  namespace: old\n'),
      'old/configmap_b.yaml': configMap('b', '  namespace: old\n'),
    },
  },
]
