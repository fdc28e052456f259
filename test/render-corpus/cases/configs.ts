import { configMap, kptfile, mutated, type RenderCase, text } from '../render-case.ts'

const local = '  annotations:\n    config.kubernetes.io/local-config: "true"\n'

/** Where a function's config comes from, and in which state. */
export const configs: readonly RenderCase[] = [
  {
    name: 'config-values',
    about: 'configMap with numbers, booleans, nulls and dates: all become texts.',
    files: {
      Kptfile: kptfile(
        text`
          pipeline:
            mutators:
              - exec: set-annotations
                configMap:
                  int: 1
                  float: 1.50
                  yes: true
                  plain-yes: yes
                  octal: 017
                  hex: 0x1F
                  date: 2026-11-21
                  nothing:
                  tilde: ~
                  empty: ""
                  text: plain # a comment
                  folded: >-
                    one
                    two
                  literal: |
                    one
                    two
                  "quoted.key/x": 'single'
        `,
      ),
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'config-shared',
    about: 'Two functions read one file.',
    files: {
      Kptfile: mutated(
        '{exec: set-labels, configPath: shared.yaml}',
        '{exec: set-annotations, configPath: shared.yaml}',
      ),
      'shared.yaml': configMap('shared', `${local}data:\n  app: web\n`),
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'config-changed-before',
    about: 'A function changes the config of the next: the next reads the new one.',
    files: {
      Kptfile: mutated(
        '{exec: apply-setters, configMap: {team: red}}',
        '{exec: set-labels, configPath: labels.yaml}',
        '{exec: search-replace, configMap: {by-path: data.team, put-value: green}}',
        '{exec: set-annotations, configPath: labels.yaml}',
      ),
      'labels.yaml': configMap('labels', `${local}data:\n  team: blue # kpt-set: \${team}\n`),
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'config-of-a-validator-is-that-on-disk',
    about: 'A validator reads its config as it was before the mutators.',
    files: {
      Kptfile: kptfile(
        'pipeline:\n  mutators:\n    - {exec: search-replace, configMap: {by-path: data.severity, put-value: warning}}\n  validators:\n    - {exec: corpus-report, configPath: report.yaml}\n',
      ),
      'report.yaml': configMap('report', 'data:\n  message: said\n  severity: info\n'),
    },
  },
  {
    name: 'config-moved-or-gone',
    about: 'A config that a function moved, deleted or that is named with ./: read from disk.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-move, configMap: {name: moved, path: elsewhere.yaml}}',
        '{exec: search-replace, configMap: {by-path: data.a, put-value: changed}}',
        '{exec: set-labels, configPath: moved.yaml}',
        '{exec: corpus-delete, configMap: {name: gone}}',
        '{exec: set-labels, configPath: gone.yaml}',
        '{exec: set-annotations, configPath: ./dotted.yaml}',
      ),
      'moved.yaml': configMap('moved', 'data:\n  a: from-disk\n'),
      'gone.yaml': configMap('gone', 'data:\n  b: from-disk\n'),
      'dotted.yaml': configMap('dotted', 'data:\n  a: from-disk\n'),
    },
  },
  {
    name: 'config-in-a-folder',
    about:
      'A config in a folder: all objects are seen, and what a function makes lands in that folder.',
    files: {
      Kptfile: mutated(
        '{exec: corpus-create, configPath: functions/deep/make.yaml}',
        '{exec: set-labels, configPath: functions/labels.yaml}',
      ),
      'functions/deep/make.yaml': configMap('make', `${local}data:\n  name: made\n`),
      'functions/labels.yaml': configMap('labels', `${local}data:\n  app: web\n`),
      'a.yaml': configMap('a'),
      'x/b.yaml': configMap('b'),
    },
  },
  {
    name: 'config-ignored-file',
    about: 'A config that .krmignore hides is none.',
    refused: 'functionConfig must exist in the current package',
    files: {
      Kptfile: mutated('{exec: set-labels, configPath: hidden.yaml}'),
      '.krmignore': 'hidden.yaml\n',
      'hidden.yaml': configMap('hidden', 'data:   {app: web}\n'),
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'config-of-the-kptfile-itself',
    about: 'The Kptfile and a ConfigMap with comments as config.',
    files: {
      Kptfile: mutated('{exec: set-annotations, configPath: odd.yaml}'),
      'odd.yaml':
        '# head\n\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: odd} # line\ndata: # of data\n  # of a\n  a: b # beside\n  # below\n',
    },
  },
  {
    name: 'config-empty-map',
    about: 'An empty configMap is none; a function that can do without runs.',
    files: {
      Kptfile: mutated('{exec: corpus-identity, configMap: {}}', '{exec: corpus-identity}'),
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'config-json',
    about: 'A config in a JSON file.',
    files: {
      Kptfile: mutated('{exec: set-labels, configPath: labels.json}'),
      'labels.json':
        '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "labels"}, "data": {"app": "web"}}\n',
      'a.yaml': configMap('a'),
    },
  },
  {
    name: 'config-package-context',
    about: 'package-context.yaml of a package and its subpackage, each for itself.',
    files: {
      Kptfile: mutated('{exec: set-namespace, configPath: package-context.yaml}'),
      'package-context.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n${local}data:\n  name: outer\n`,
      'a.yaml': configMap('a', '  namespace: example\n'),
      'sub/Kptfile': mutated('{exec: set-labels, configMap: {from: sub}}').replace('root', 'sub'),
      'sub/package-context.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kptfile.kpt.dev\n${local}data:\n  name: inner\n`,
      'sub/b.yaml': configMap('b', '  namespace: example\n'),
    },
  },
]
