import { configMap, kptfile, mutated, type RenderCase, text } from '../render-case.ts'

const named = (name: string, text: string): string => text.replace('name: root', `name: ${name}`)

/** Packages in packages. */
export const subpackages: readonly RenderCase[] = [
  {
    name: 'sub-two-deep',
    about: 'Each package has a pipeline; the parent works on what the child has made.',
    files: {
      Kptfile: mutated(
        '{exec: ensure-name-substring, configMap: {prepend: root-}}',
        '{exec: set-labels, configMap: {level: root, root: "yes"}}',
      ),
      'a.yaml': configMap('a'),
      'child/Kptfile': named(
        'child',
        mutated(
          '{exec: ensure-name-substring, configMap: {prepend: child-}}',
          '{exec: set-labels, configMap: {level: child, child: "yes"}}',
        ),
      ),
      'child/b.yaml': configMap('b'),
    },
  },
  {
    name: 'sub-three-deep',
    about: 'Three levels, with a folder that is no package between them.',
    files: {
      Kptfile: mutated('{exec: corpus-number}', '{exec: set-annotations, configMap: {from: one}}'),
      'a.yaml': configMap('a'),
      'two/Kptfile': named(
        'two',
        mutated('{exec: corpus-number}', '{exec: set-annotations, configMap: {from: two}}'),
      ),
      'two/b.yaml': configMap('b'),
      'two/folder/c.yaml': configMap('c'),
      'two/folder/three/Kptfile': named(
        'three',
        mutated('{exec: corpus-number}', '{exec: set-annotations, configMap: {from: three}}'),
      ),
      'two/folder/three/d.yaml': configMap('d'),
    },
  },
  {
    name: 'sub-siblings-in-order',
    about: 'Siblings render in the order of their names; the parent gets their objects first.',
    files: {
      Kptfile: mutated('{exec: corpus-number}'),
      'a.yaml': configMap('a'),
      'z/Kptfile': kptfile('', 'z'),
      'z/z.yaml': configMap('z'),
      'b/Kptfile': kptfile('', 'b'),
      'b/b.yaml': configMap('b'),
      'b-c/Kptfile': kptfile('', 'b-c'),
      'b-c/bc.yaml': configMap('bc'),
      'B/Kptfile': kptfile('', 'capital'),
      'B/capital.yaml': configMap('capital'),
      'b/inner/Kptfile': kptfile('', 'inner'),
      'b/inner/i.yaml': configMap('inner'),
      'folder/x/Kptfile': kptfile('', 'x'),
      'folder/x/x.yaml': configMap('x'),
      'folder/f.yaml': configMap('f'),
    },
  },
  {
    name: 'sub-only-the-child-works',
    about: 'A root without a pipeline, a child with one.',
    files: {
      Kptfile: kptfile('info: {description:   nothing to do}\n'),
      'a.yaml': configMap('a', 'data: {a:  b}\n'),
      'child/Kptfile': named('child', mutated('{exec: set-labels, configMap: {app: web}}')),
      'child/b.yaml': configMap('b'),
    },
  },
  {
    name: 'sub-only-the-root-works',
    about: 'A root with a pipeline over children without one, whose Kptfiles it labels too.',
    files: {
      Kptfile: mutated(
        '{exec: set-labels, configMap: {app: web}}',
        '{exec: set-annotations, configMap: {owner: a}}',
        '{exec: set-namespace, configMap: {namespace: shop}}',
      ),
      'a.yaml': configMap('a'),
      'child/Kptfile': kptfile('', 'child'),
      'child/b.yaml': configMap('b'),
      'other/Kptfile': kptfile('', 'other').replace(
        '  name: other\n',
        '  name: other\n  annotations:\n    config.kubernetes.io/local-config: "true"\n',
      ),
      'other/c.yaml': configMap('c'),
    },
  },
  {
    name: 'sub-same-names',
    about: 'The same files and objects in each package.',
    files: {
      Kptfile: mutated('{exec: set-labels, configMap: {app: web}}'),
      'a.yaml': configMap('same', 'data:\n  from: root\n'),
      'one/Kptfile': kptfile('', 'one'),
      'one/a.yaml': configMap('same', 'data:\n  from: one\n'),
      'two/Kptfile': kptfile('', 'two'),
      'two/a.yaml': `${configMap('same', 'data:\n  from: two\n')}---\n${configMap('second')}`,
    },
  },
  {
    name: 'sub-makes-objects',
    about:
      'Objects made in a child land in the child; made in the root, in the root, also where their path names the child.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-create, configMap: {name: in-root}}',
        '{exec: corpus-create, configMap: {name: placed, path: child/placed.yaml}}',
        '{exec: set-labels, configMap: {app: web}}',
      ),
      'child/Kptfile': named(
        'child',
        mutated(
          '{exec: corpus-create, configMap: {name: in-child, namespace: shop}}',
          '{exec: corpus-create, configMap: {name: at-path, path: some/where.yaml}}',
        ),
      ),
      'child/b.yaml': configMap('b'),
    },
  },
  {
    name: 'sub-root-changes-the-child',
    about: 'The root deletes, moves, renames and replaces objects of the child.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-delete, configMap: {name: gone}}',
        '{exec: corpus-move, configMap: {name: moved, path: elsewhere.yaml}}',
        '{exec: corpus-rename, configMap: {name: before, to: after}}',
        '{exec: corpus-strip, configMap: {name: stripped}}',
        '{exec: upsert-resource, configPath: wanted.yaml}',
      ),
      'wanted.yaml': configMap('replaced', 'data:\n  a: new\n'),
      'child/Kptfile': kptfile('', 'child'),
      'child/gone.yaml': configMap('gone'),
      'child/moved.yaml': configMap('moved'),
      'child/some.yaml': `${configMap('before')}---\n${configMap('stripped')}---\n${configMap('replaced', 'data:\n  a: old # why\n')}`,
    },
  },
  {
    name: 'sub-two-packages-one-file',
    about: 'The root puts an object into a file of the child.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-move, configMap: {name: mine, path: child/b.yaml, index: "0"}}',
      ),
      'a.yaml': configMap('mine'),
      'child/Kptfile': kptfile('', 'child'),
      'child/b.yaml': `${configMap('b')}---\n${configMap('c')}`,
    },
  },
  {
    name: 'sub-parent-sets-for-all',
    about:
      'Setters of the root reach comments in the children, after the values of the children themselves.',
    files: {
      Kptfile: mutated('{exec: apply-setters, configPath: setters.yaml}'),
      'setters.yaml': configMap('setters', 'data:\n  env: prod\n'),
      'app/Kptfile': named(
        'app',
        mutated('{exec: apply-setters, configMap: {env: dev, size: small}}'),
      ),
      'app/a.yaml': configMap(
        'app',
        text`
        data:
          env: x # kpt-set: \${env}
          size: y # kpt-set: \${size}
          both: x-y # kpt-set: \${env}-\${size}
      `,
      ),
      'db/Kptfile': kptfile('', 'db'),
      'db/a.yaml': configMap('db', `data:\n  env: x # kpt-set: \${env}\n`),
    },
  },
  {
    name: 'sub-hidden-and-nested-oddly',
    about:
      'A package in a hidden folder, one without any other object, one with only an empty file.',
    files: {
      Kptfile: mutated('{exec: set-annotations, configMap: {a: b}}'),
      '.hidden/Kptfile': kptfile('', 'hidden'),
      '.hidden/h.yaml': configMap('h'),
      'alone/Kptfile': named('alone', mutated('{exec: set-labels, configMap: {x: y}}')),
      'blank/Kptfile': kptfile('', 'blank'),
      'blank/empty.yaml': '# nothing\n',
    },
  },
  {
    name: 'sub-validators-of-each',
    about: 'Validators of a child see the child only, those of the root everything.',
    files: {
      Kptfile: kptfile(
        'pipeline:\n  validators:\n    - {exec: corpus-count}\n  mutators:\n    - {exec: corpus-count}\n',
      ),
      'a.yaml': configMap('a'),
      'child/Kptfile': kptfile('pipeline:\n  validators:\n    - {exec: corpus-count}\n', 'child'),
      'child/b.yaml': `${configMap('b')}---\n${configMap('c')}`,
    },
  },
]
