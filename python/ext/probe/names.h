/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h - attributes and keys of objects of coffea, uproot and users. */
#ifndef ROAST_EXT_NAMES_H
#define ROAST_EXT_NAMES_H

#include <Python.h>

/* Interned once. NAME(c identifier, "text"). */
#define PROBE_NAMES(NAME) \
    NAME(metadata, "metadata") \
    NAME(dataset, "dataset") \
    NAME(filename, "filename") \
    NAME(treename, "treename") \
    NAME(fileuuid, "fileuuid") \
    NAME(entrystart, "entrystart") \
    NAME(entrystop, "entrystop") \
    NAME(events, "events") \
    NAME(attrs, "attrs") \
    NAME(requested, "num_requested_bytes") \
    NAME(output_key, "__roastcoffea_metrics__") \
    NAME(current_chunk, "_roastcoffea_current_chunk") \
    NAME(copy, "copy") \
    NAME(item, "item") \
    NAME(dtype, "dtype") \
    NAME(module_name, "__module__") \
    NAME(qualname, "__qualname__") \
    NAME(name, "__name__") \
    NAME(tb_next, "tb_next") \
    NAME(tb_frame, "tb_frame") \
    NAME(f_back, "f_back") \
    NAME(tb_lasti, "tb_lasti") \
    NAME(file, "file") \
    NAME(source, "source") \
    NAME(own_file, "_file") \
    NAME(own_source, "_source") \
    NAME(own_start, "_start") \
    NAME(own_stop, "_stop") \
    NAME(raw_data, "_raw_data") \
    NAME(file_path, "file_path") \
    NAME(file_path_given, "_file_path_orig") \
    NAME(access_log, "_access_log") \
    NAME(branch, "branch") \
    NAME(branches, "branches") \
    NAME(column, "column") \
    NAME(column_name, "name") \
    NAME(column_cache, "_column_cache") \
    NAME(column_records, "column_records") \
    NAME(field_id, "field_id") \
    NAME(field_records, "field_records") \
    NAME(field_name, "field_name") \
    NAME(source_field_id, "source_field_id") \
    NAME(parent_field_id, "parent_field_id") \
    NAME(type_name, "type_name") \
    NAME(compressed_bytes, "compressed_bytes") \
    NAME(uncompressed_bytes, "uncompressed_bytes") \
    NAME(num_entries, "num_entries") \
    NAME(members, "_members") \
    NAME(bases, "_bases") \
    NAME(own_data, "_data") \
    NAME(branch_name, "fName") \
    NAME(sub_branches, "fBranches") \
    NAME(zip_bytes, "fZipBytes") \
    NAME(tot_bytes, "fTotBytes") \
    NAME(write_basket, "fWriteBasket") \
    NAME(compress_setting, "fCompress") \
    NAME(key_bytes, "fKeylen") \
    NAME(object_bytes, "fObjlen") \
    NAME(classname, "classname") \
    NAME(parent, "parent") \
    NAME(mapping, "_mapping") \
    NAME(cache, "_cache") \
    NAME(partition_key, "_partition_key") \
    NAME(chunk_to_basket, "chunk_to_basket") \
    NAME(basket_to_array, "basket_to_array")

struct probe_names {
#define NAME(id, text) PyObject *id;
    PROBE_NAMES(NAME)
#undef NAME
};

#endif
