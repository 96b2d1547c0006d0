// The part of libyaml that DatalessScenario needs, without the unions of its events, which Swift sees badly.
// Everything here starts with cyaml_.
#ifndef CYAML_SHIM_H
#define CYAML_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <yaml.h>

static const int32_t cyaml_failed = -1;
static const int32_t cyaml_stream_end = 0;
static const int32_t cyaml_document_start = 1;
static const int32_t cyaml_document_end = 2;
static const int32_t cyaml_alias = 3;
static const int32_t cyaml_scalar = 4;
static const int32_t cyaml_sequence_start = 5;
static const int32_t cyaml_sequence_end = 6;
static const int32_t cyaml_mapping_start = 7;
static const int32_t cyaml_mapping_end = 8;
static const int32_t cyaml_stream_start = 9;

// One event. `text` belongs to the reader and is valid until the next call.
struct cyaml_event {
  int32_t kind;
  const unsigned char *text;
  size_t length;
  bool is_plain, has_tag, has_anchor;
  // From 0; columns in characters.
  size_t line, column;
};

// What went wrong. `problem` and `context` are constants of the library, or null.
struct cyaml_problem {
  const char *problem, *context;
  size_t line, column, context_line;
  // Whether the bytes cannot be decoded: then only `offset` says where.
  bool is_encoding;
  size_t offset;
};

struct cyaml_reader {
  yaml_parser_t parser;
  yaml_event_t event;
  bool has_event;
};

// Returns null when there is no memory. The bytes must outlive the reader.
static inline struct cyaml_reader *cyaml_open(const unsigned char *bytes, size_t count) {
  struct cyaml_reader *reader = (struct cyaml_reader *)calloc(1, sizeof *reader);
  if (!reader)
    return NULL;
  if (!yaml_parser_initialize(&reader->parser)) {
    free(reader);
    return NULL;
  }
  // Not guessed from the first bytes: a scenario is UTF-8.
  yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&reader->parser, bytes, count);
  return reader;
}

static inline void cyaml_close(struct cyaml_reader *reader) {
  if (reader->has_event)
    yaml_event_delete(&reader->event);
  yaml_parser_delete(&reader->parser);
  free(reader);
}

static inline struct cyaml_event cyaml_next(struct cyaml_reader *reader) {
  struct cyaml_event result = {cyaml_failed, NULL, 0, false, false, false, 0, 0};
  if (reader->has_event)
    yaml_event_delete(&reader->event);
  reader->has_event = false;
  if (!yaml_parser_parse(&reader->parser, &reader->event))
    return result;
  reader->has_event = true;
  const yaml_event_t *event = &reader->event;
  result.line = event->start_mark.line;
  result.column = event->start_mark.column;
  switch (event->type) {
  case YAML_STREAM_START_EVENT:
    result.kind = cyaml_stream_start;
    break;
  case YAML_DOCUMENT_START_EVENT:
    result.kind = cyaml_document_start;
    break;
  case YAML_DOCUMENT_END_EVENT:
    result.kind = cyaml_document_end;
    break;
  case YAML_ALIAS_EVENT:
    result.kind = cyaml_alias;
    break;
  case YAML_SCALAR_EVENT:
    result.kind = cyaml_scalar;
    result.text = event->data.scalar.value;
    result.length = event->data.scalar.length;
    result.is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    result.has_tag = event->data.scalar.tag != NULL;
    result.has_anchor = event->data.scalar.anchor != NULL;
    break;
  case YAML_SEQUENCE_START_EVENT:
    result.kind = cyaml_sequence_start;
    result.has_tag = event->data.sequence_start.tag != NULL;
    result.has_anchor = event->data.sequence_start.anchor != NULL;
    break;
  case YAML_SEQUENCE_END_EVENT:
    result.kind = cyaml_sequence_end;
    break;
  case YAML_MAPPING_START_EVENT:
    result.kind = cyaml_mapping_start;
    result.has_tag = event->data.mapping_start.tag != NULL;
    result.has_anchor = event->data.mapping_start.anchor != NULL;
    break;
  case YAML_MAPPING_END_EVENT:
    result.kind = cyaml_mapping_end;
    break;
  default:
    result.kind = cyaml_stream_end;
    break;
  }
  return result;
}

static inline struct cyaml_problem cyaml_problem_of(const struct cyaml_reader *reader) {
  const yaml_parser_t *parser = &reader->parser;
  struct cyaml_problem result = {
      parser->problem, parser->context, parser->problem_mark.line, parser->problem_mark.column,
      parser->context_mark.line, parser->error == YAML_READER_ERROR, parser->problem_offset};
  return result;
}

#endif
