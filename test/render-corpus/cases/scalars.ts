import { configMap, kptfile, mutated, type RenderCase, text } from '../render-case.ts'

const quoted = configMap(
  'scalars',
  text`
    data:
      yes-quoted: "yes"
      yes-plain: yes
      on: on
      off-single: 'off'
      n: n
      octal: 017
      octal-new: 0o17
      octal-quoted: "017"
      hex: 0x1F
      binary: 0b101
      exponent: 1e3
      exponent-quoted: "1e3"
      exponent-dot: 1.0e+3
      underscore: 1_000
      sexagesimal: 190:20:30
      version: 1.10
      version-quoted: "1.10"
      float: .5
      negative: -0
      tilde: ~
      tilde-single: '~'
      null-plain: null
      null-quoted: "null"
      nothing:
      empty: ""
      empty-single: ''
      true: true
      True: True
      true-quoted: "true"
      date: 2026-11-21
      date-quoted: "2026-11-21"
      time: 2026-11-21T10:00:00Z
      big: 123456789012345678901234567890
      merge: "<<"
      equals: =
      colon: "a: b"
      hash: "a #b"
      star: "*a"
      amp: '&a'
      bang: "!a"
      percent: "%a"
      at: "@a"
      backtick: '\`a'
      braces: "{a}"
      brackets: '[a]'
      comma: "a, b"
      question: "? a"
      dash: "- a"
      dash-only: "-"
      dashes: "---"
      space-before: " a"
      space-behind: 'a '
      single-in-double: "it's"
      double-in-single: 'say "a"'
      both: "it's \"a\""
      escaped: "tab\there\nline\\back\x41\u00e9"
      plain-apostrophe: it's
      plain-colon: a:b
      plain-url: http://example.com:80/#a
  `,
)

const blocks = configMap(
  'blocks',
  text`
    data:
      literal: |
        one
          two

        three
      stripped: |-
        no end
      kept: |+
        with ends


      indented: |2
          two more
        text
      folded: >
        one
        two

        three
          four
        five
      folded-stripped: >-
        a long line that somebody
        has folded by hand
      long: >-
        ${'words that go on '.repeat(12).trim()}
      empty: |
      spaces: |
        a  
        b
      tabs: "a\tb"
      script: |
        #!/bin/sh
        # not a comment
        if [ "$1" = "a" ]; then
          echo '\${1}'
        fi
      json: |
        {"a": [1, 2]}
      only-newlines: |+


      after: a
  `,
)

const unicode = configMap(
  'unicode',
  text`
    data:
      latin: café
      quoted: "naïve"
      japanese: 日本語
      emoji: "🚀 up"
      emoji-plain: 🚀
      right-to-left: שלום
      combining: "é"
      nbsp: "a b"
      zero-width: "a​b"
      bom: "a﻿b"
      control: "\u0007\u001b[0m"
      separator: "a\u2028b"
      next-line: "a\u0085b"
      high: "\U0001F600"
      schlüssel: wert # größe
    # größer
  `,
)

/** Values: quotes, numbers, texts of several lines, characters beyond ASCII. */
export const scalars: readonly RenderCase[] = [
  {
    name: 'scalars-quotes',
    about: 'Quotes are kept as written, nothing is read as a number and printed anew.',
    files: { Kptfile: kptfile(), 'a.yaml': quoted },
  },
  {
    name: 'scalars-quotes-through-a-function',
    about: 'The same through a function that touches the object.',
    files: { Kptfile: mutated('{exec: set-labels, configMap: {app: web}}'), 'a.yaml': quoted },
  },
  {
    name: 'scalars-blocks',
    about: 'Literal and folded texts with every chomping.',
    files: { Kptfile: kptfile(), 'a.yaml': blocks },
  },
  {
    name: 'scalars-blocks-through-a-function',
    about: 'Folded texts become quoted ones when they go through a function.',
    files: { Kptfile: mutated('{exec: set-labels, configMap: {app: web}}'), 'a.yaml': blocks },
  },
  {
    name: 'scalars-unicode',
    about: 'Characters beyond ASCII, and those that are not printed.',
    files: { Kptfile: kptfile(), 'a.yaml': unicode },
  },
  {
    name: 'scalars-unicode-through-a-function',
    about: 'The same through a function.',
    files: {
      Kptfile: mutated('{exec: set-labels, configMap: {grüße: "日本"}}'),
      'a.yaml': unicode,
    },
  },
  {
    name: 'scalars-set-by-functions',
    about: 'Values that functions write and that need quotes to stay texts.',
    files: {
      Kptfile: mutated(
        '{exec: set-labels, configMap: {a: "yes", b: "017", c: "1e3", d: "~", e: "", f: "null", g: "true", h: "1.10", i: "0x1f", j: "12:30:45", k: "2026-11-21", l: "on", m: "y"}}',
        '{exec: set-annotations, configMap: {long: "' +
          'word '.repeat(40).trim() +
          '", colon: "a: b", hash: "a #b", lines: "one\\ntwo", quote: "say \\"a\\"", star: "*a", json: "{\\"a\\": 1}", space: " a "}}',
      ),
      'a.yaml': configMap('target'),
      'b.yaml': configMap(
        'has-some',
        '  labels:\n    a: "no"\n    b: \'8\'\n  annotations: {colon: x}\n',
      ),
    },
  },
  {
    name: 'scalars-tags',
    about: 'Explicit tags, long ones too, on values, maps and lists.',
    files: {
      Kptfile: mutated('{exec: corpus-identity}'),
      'a.yaml': configMap(
        'tags',
        text`
          data:
            text: !!str 12
            number: !!int "12"
            binary: !!binary aGVsbG8=
            map: !!map {a: b}
            list: !!seq [a]
            none: !!null ""
            long: !<tag:yaml.org,2002:str> 1.5
        `,
      ),
    },
  },
  {
    name: 'scalars-without-a-form-in-json',
    about: 'Infinity and what is no number.',
    weRefuse: 'the API server takes JSON, which has no such values',
    files: { Kptfile: kptfile(), 'a.yaml': configMap('endless', 'data:\n  a: .inf\n  b: .nan\n') },
  },
  {
    name: 'scalars-unknown-tags',
    about: 'A tag of somebody’s own.',
    weRefuse: 'no reader of Kubernetes objects knows the tag',
    files: { Kptfile: kptfile(), 'a.yaml': configMap('tagged', 'data:\n  a: !mine value\n') },
  },
  {
    name: 'scalars-multi-line-plain',
    about: 'Plain and quoted texts over several lines are joined.',
    files: {
      Kptfile: mutated('{exec: corpus-identity}'),
      'a.yaml': configMap(
        'lines',
        text`
          data:
            plain: one
              two

              three
            double: "one
              two \
              three

              four"
            single: 'one
              two'
            key with
        `.replace('  key with\n', '  last: end\n'),
      ),
    },
  },
  {
    name: 'scalars-anchors-through-a-function',
    about: 'Anchors, aliases and merge keys in an object that a function labels.',
    files: {
      Kptfile: mutated(
        '{exec: set-labels, configMap: {tier: front}}',
        '{exec: set-annotations, configMap: {owner: a}}',
      ),
      'a.yaml': text`
        apiVersion: apps/v1
        kind: Deployment
        metadata:
          name: &name web
          labels: &labels
            app: web
        spec:
          selector:
            matchLabels: *labels
          template:
            metadata:
              labels:
                <<: *labels
                extra: "1"
            spec:
              containers:
              - name: *name
                resources: &size
                  limits: {cpu: 100m}
              - name: side
                resources: *size
      `,
    },
  },
]
